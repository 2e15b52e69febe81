//! Places on a page: the matrices of PDF, without what text needs not.

/// A linear map with a shift: `[a b c d e f]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix(pub(super) [f64; 6]);

impl Matrix {
    /// The map that changes nothing.
    pub(super) const ONE: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// A shift.
    pub(super) fn shift(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// This map first, then another.
    pub(super) fn then(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [p, q, r, s, t, u]) = (self.0, other.0);
        Self([
            a * p + b * r,
            a * q + b * s,
            c * p + d * r,
            c * q + d * s,
            e * p + f * r + t,
            e * q + f * s + u,
        ])
    }

    /// Where the origin comes to.
    pub(super) fn origin(self) -> (f64, f64) {
        (self.0[4], self.0[5])
    }

    /// How much larger it makes what stands upright.
    pub(super) fn scale(self) -> f64 {
        self.0[2].hypot(self.0[3])
    }

    /// The direction that text runs in.
    pub(super) fn direction(self) -> (f64, f64) {
        let (a, b) = (self.0[0], self.0[1]);
        let length = a.hypot(b);
        if length > 0.0 { (a / length, b / length) } else { (1.0, 0.0) }
    }
}
