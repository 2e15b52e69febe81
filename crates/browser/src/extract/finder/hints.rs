//! What an element's tag, role, id and classes say of its purpose.

use std::sync::LazyLock;

use crate::extract::dom::Element;

/// How many purposes there are.
pub(super) const COUNT: usize = 32;

/// Purposes, by the words that name them. A word is a part of an id or class between signs, or where
/// lower case turns to upper.
const WORDS: [&str; COUNT] = [
    // 0: navigation.
    "nav navbar navigation menu submenu menubar topnav subnav sidenav mainnav megamenu \
     dropdown tabs tab tablist",
    // 1: headers.
    "header masthead topbar banner head top appbar",
    // 2: footers.
    "footer foot bottom colophon footnav subfooter",
    // 3: sidebars.
    "sidebar aside side rail sidecolumn secondary complementary gutter leftcol rightcol \
     rightrail sidebox",
    // 4: comments.
    "comment comments disqus respond commentlist replies discussion livefyre",
    // 5: sharing.
    "share sharing social sharedaddy addthis addtoany facebook twitter pinterest whatsapp \
     follow tweet linkedin socials",
    // 6: other pages.
    "related recommend recommended recommendations more popular trending latest similar \
     recent suggested also upsell crosssell mostread readmore next yarpp outbrain taboola",
    // 7: advertisements.
    "ad ads advert advertisement advertising sponsor sponsored promo promotion dfp \
     adsense adslot promoted affiliate commercial sponsors",
    // 8: dialogs.
    "cookie cookies consent gdpr modal popup overlay dialog lightbox onetrust paywall \
     toast notification alert interstitial drawer offcanvas",
    // 9: paths.
    "breadcrumb breadcrumbs crumb crumbs path",
    // 10: forms.
    "form input search searchform filter filters facet facets refine sort sorting toolbar \
     login signin register select option options",
    // 11: about the text.
    "meta byline author date time timestamp published postmeta dateline vcard avatar bio \
     authorbox updated posted info entrymeta",
    // 12: tags.
    "tag tags category categories topics taxonomy keywords label labels badge",
    // 13: articles.
    "article articlebody articlecontent story storybody post postbody postcontent entry \
     entrycontent blogpost news blog hentry longform single",
    // 14: text.
    "content contents maincontent body bodytext text richtext prose copy wysiwyg rte \
     markdown rendered description desc paragraph editor rich",
    // 15: the page.
    "main primary page pagecontent primarycontent center middle",
    // 16: products.
    "product price pricing cart sku buy shop variant pdp woocommerce specs specifications \
     specification stock quantity swatch",
    // 17: reviews.
    "review reviews rating ratings stars testimonial testimonials feedback yotpo \
     trustpilot",
    // 18: threads.
    "thread message messages topic forum reply bbs bbwrapper postbit answer answers \
     question userpost crayons conversation cooked",
    // 19: pictures.
    "caption figure figcaption image img gallery photo media video player slideshow \
     carousel slider slide swiper credit",
    // 20: subscriptions.
    "newsletter subscribe subscription signup optin mailchimp email cta donate donation \
     membership join",
    // 21: pages of a list.
    "pagination pager paging pages prev previous navlinks paginate loadmore",
    // 22: widgets.
    "widget widgets module plugin box panel block",
    // 23: legal notes.
    "copyright legal disclaimer terms privacy license",
    // 24: lists.
    "list items item listing listings results result feed archive index directory catalog",
    // 25: titles and teasers.
    "hero jumbotron headline title heading subtitle intro lead lede standfirst summary \
     excerpt teaser dek deck",
    // 26: cards.
    "card cards grid tile tiles thumb thumbnail masonry collection",
    // 27: questions and features.
    "faq faqs accordion toggle collapse collapsible feature features benefit benefits \
     step steps service services",
    // 28: tables of contents.
    "toc tableofcontents outline jump skip anchor onpage scrollspy localnav",
    // 29: buttons.
    "button btn link links action actions print download tools controls icon icons \
     language lang locale",
    // 30: quotes and notes.
    "quote blockquote pullquote footnote footnotes references reference citation infobox \
     note sources highlight code",
    // 31: users.
    "user profile member signature sig username userinfo poster postprofile account",
];

/// The purposes of an element, a bit each.
pub(super) fn of(element: &Element, words: &Words) -> u32 {
    let mut found = of_tag(element.name());
    if element.attributes().next().is_none() {
        return found;
    }
    for name in ["class", "id", "role", "itemprop", "data-component", "data-testid"] {
        if let Some(value) = element.attribute(name) {
            found |= words.in_value(value);
        }
    }
    found
}

fn of_tag(name: &str) -> u32 {
    match name {
        "nav" | "menu" => 1,
        "header" => 1 << 1,
        "footer" => 1 << 2,
        "aside" => 1 << 3,
        "dialog" => 1 << 8,
        "form" | "label" | "fieldset" => 1 << 10,
        "time" | "address" => 1 << 11,
        "article" => 1 << 13,
        "main" => 1 << 15,
        "figure" | "figcaption" | "picture" => 1 << 19,
        "button" => 1 << 29,
        "blockquote" => 1 << 30,
        _ => 0,
    }
}

/// The words, to be looked up.
#[derive(Debug)]
pub(super) struct Words(std::collections::HashMap<&'static [u8], u32>);

/// Longest word that is looked up.
const LONGEST: usize = 20;

impl Words {
    /// The words, which are the same for every page.
    pub(super) fn all() -> &'static Self {
        static ALL: LazyLock<Words> = LazyLock::new(Words::new);
        &ALL
    }

    fn new() -> Self {
        let mut words = std::collections::HashMap::new();
        for (bit, group) in WORDS.iter().enumerate() {
            for word in group.split_ascii_whitespace() {
                *words.entry(word.as_bytes()).or_insert(0) |= 1 << bit;
            }
        }
        Self(words)
    }

    /// The purposes that the words of a value name. Only its first 400 bytes are looked at.
    fn in_value(&self, value: &str) -> u32 {
        let mut found = 0;
        let mut word = [0_u8; LONGEST];
        let mut length = 0;
        let mut lower = false;
        let bytes = value.as_bytes();
        for &byte in bytes.get(..400).unwrap_or(bytes).iter().chain(b" ") {
            let ends = !byte.is_ascii_alphabetic();
            if (ends || (lower && byte.is_ascii_uppercase())) && length > 0 {
                if let Some(word) = word.get(..length) {
                    found |= self.0.get(word).copied().unwrap_or(0);
                }
                length = 0;
            }
            if !ends {
                if let Some(slot) = word.get_mut(length) {
                    *slot = byte.to_ascii_lowercase();
                }
                length += 1;
            }
            lower = byte.is_ascii_lowercase();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_ids_and_classes() {
        let words = Words::new();
        assert_eq!(words.in_value("site-nav"), 1);
        assert_eq!(words.in_value("mainContent postBody"), 1 << 14 | 1 << 15 | 1 << 13);
        assert_eq!(words.in_value("navigational"), 0);
        assert_eq!(words.in_value(&"x".repeat(1000)), 0);
    }
}
