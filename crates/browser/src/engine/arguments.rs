//! How Chromium is started: its arguments, each group with its reason.
//!
//! None of them is a wall. The walls are the child's empty network and private root, and the proxy; the
//! arguments keep Chromium from asking for what it would not get, and from what nobody reads.

/// The port of the proxy, on the loopback interface of the child's own network.
pub(super) const PROXY_PORT: u16 = 3128;

/// Where the profile is: in the child's own memory file system, which ends with it.
const PROFILE: &str = "--user-data-dir=/tmp/profile";

/// Everything that is always said.
const ALWAYS: &[&str] = &[
    // A browser without a screen, on two pipes.
    "--headless=new",
    "--remote-debugging-pipe",
    PROFILE,
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--mute-audio",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--lang=en-US",
    // The network: everything through the proxy, loopback too, and nothing beside it.
    "--proxy-server=http://127.0.0.1:3128",
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    // What the browser would do by itself.
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-service-autorun",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    // What a page could ask a person for.
    "--deny-permission-prompts",
    "--disable-notifications",
    "--disable-prompt-on-repost",
    "--disable-search-engine-choice-screen",
    // A page goes on while nobody looks at it.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    // All frames of a page are in one process: one session of the protocol drives them all. What keeps
    // sessions apart is that each is a browser of its own.
    "--disable-site-isolation-trials",
    FEATURES_OFF,
];

/// Features that are off: a page's first request is sent before a service worker could be watched,
/// plain addresses would be tried as other ones first, and services of the maker are asked.
const FEATURES_OFF: &str = "--disable-features=IsolateOrigins,site-per-process,\
    ServiceWorkerAutoPreload,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,Translate,MediaRouter,\
    DialMediaRouteProvider,OptimizationHints,AutofillServerCommunication,CertificateTransparencyComponentUpdater,\
    InterestFeedContentSuggestions,PaintHolding,BackForwardCache";

/// All arguments, for a window of this size.
pub(super) fn all(width: u32, height: u32, user_agent: Option<&str>) -> Vec<String> {
    let mut all: Vec<String> = ALWAYS.iter().map(|&one| one.to_owned()).collect();
    all.push(format!("--window-size={width},{height}"));
    all.extend(user_agent.map(|agent| format!("--user-agent={agent}")));
    // Its own sandbox needs namespaces, which a confined child can't make.
    all.push("--no-sandbox".to_owned());
    all.push("about:blank".to_owned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_is_named_by_its_port() {
        let named = format!("--proxy-server=http://127.0.0.1:{PROXY_PORT}");
        assert!(ALWAYS.contains(&named.as_str()));
    }
}
