//! Functions that are called on an element of a page, with it as `this`. What they say is the page's word:
//! a page that replaces what they use deceives about itself alone.

/// What an element is, for those who want to use it.
pub(super) const FACTS: &str = "function() {
    const tag = this.nodeType === 1 ? this.localName : '';
    const kind = tag === 'input' ? this.type : '';
    const writes = /^(text|search|url|tel|email|password|number|date|time|datetime-local|month|week|color|range)$/;
    return {
        tag, kind,
        disabled: this.nodeType === 1 && (this.matches(':disabled')
            || this.closest('[aria-disabled=\"true\"]') !== null || this.closest('[inert]') !== null),
        read_only: this.readOnly === true,
        writable: tag === 'textarea' || writes.test(kind) || this.isContentEditable === true,
    };
}";

/// What lies over an element at the place of `hit`; nothing where that is the element or a part of it.
pub(super) const COVER: &str = "function(hit) {
    const up = (node) => node.parentNode || node.host || null;
    for (let node = hit; node; node = up(node)) if (node === this) return null;
    const label = this.closest && this.closest('label');
    for (let node = this; node; node = up(node)) if (node === hit && (label === hit || node.nodeType !== 1)) return null;
    if (hit.nodeType !== 1) hit = hit.parentElement || hit;
    const id = hit.id ? '#' + hit.id : '';
    return ('<' + (hit.localName || hit.nodeName) + id + '>').slice(0, 100);
}";

/// Chooses an option of a `select` by its value or its text; the options there are, where it has none such.
pub(super) const CHOOSE: &str = "function(wanted) {
    const options = Array.from(this.options);
    const found = options.find(o => o.value === wanted) || options.find(o => o.label.trim() === wanted.trim());
    if (!found || found.disabled) return options.slice(0, 30).map(o => o.label.trim().slice(0, 60));
    found.selected = true;
    this.dispatchEvent(new Event('input', {bubbles: true}));
    this.dispatchEvent(new Event('change', {bubbles: true}));
    return null;
}";

/// Selects what is in an element, so that what is written takes its place.
pub(super) const SELECT_ALL: &str = "function() {
    if (typeof this.select === 'function') this.select();
    else getSelection().selectAllChildren(this);
    return null;
}";
