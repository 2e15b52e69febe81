//! Where in a page a click goes.

use serde::Deserialize;

/// What is in view, in CSS pixels.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Viewport {
    pub(super) page_x: f64,
    pub(super) page_y: f64,
    pub(super) client_width: f64,
    pub(super) client_height: f64,
}

/// The area of a quad, by the shoelace formula.
pub(super) fn area(quad: &[f64; 8]) -> f64 {
    let at = |corner: usize| (quad[corner % 4 * 2], quad[corner % 4 * 2 + 1]);
    let cross = |one: (f64, f64), other: (f64, f64)| one.0 * other.1 - other.0 * one.1;
    (0..4).map(|corner| cross(at(corner), at(corner + 1))).sum::<f64>().abs() / 2.0
}

/// The middle of a quad, within the view.
pub(super) fn middle(quad: &[f64; 8], view: &Viewport) -> (f64, f64) {
    let middle = |first: usize, size: f64| {
        let corners = quad.iter().skip(first).step_by(2);
        let (low, high) =
            corners.fold((f64::MAX, f64::MIN), |(low, high), &at| (low.min(at), high.max(at)));
        let last = (size - 1.0).max(0.0);
        f64::midpoint(low.clamp(0.0, last), high.clamp(0.0, last))
    };
    (middle(0, view.client_width), middle(1, view.client_height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_goes_to_the_middle_of_what_is_visible() {
        let view = Viewport { page_x: 0.0, page_y: 0.0, client_width: 100.0, client_height: 100.0 };
        let quad = [10.0, 20.0, 30.0, 20.0, 30.0, 40.0, 10.0, 40.0];
        assert_eq!(middle(&quad, &view), (20.0, 30.0));
        assert!((area(&quad) - 400.0).abs() < 1e-9);
        let wide = [-50.0, 90.0, 500.0, 90.0, 500.0, 400.0, -50.0, 400.0];
        assert_eq!(middle(&wide, &view), (49.5, 94.5));
        assert!(area(&[5.0; 8]).abs() < 1e-9);
    }
}
