//! Functions on f64 by the four basic operations, so that all processes compute the same values.

use crate::util::cast::{to_int, whole_signed};

/// Approximates `2^x` for `x <= 0` by the four basic operations.
pub fn power_of_two(x: f64) -> f64 {
    if x < -1000.0 {
        return 0.0;
    }
    let whole = x.floor();
    let f = x - whole;
    // the power series of e^(f ln 2)
    let c = [1.0, std::f64::consts::LN_2, 0.240_226_506_959_100_7, 0.055_504_108_664_821_58, 0.009_618_129_107_628_477];
    let p = c[0]
        + f * (c[1] + f * (c[2] + f * (c[3] + f * (c[4] + f * (0.001_333_355_814_642_844 + f * 0.000_154_035_303_933_816)))));
    p * f64::from_bits((to_int::<u64>(whole_signed(whole) + 1023)) << 52)
}

/// Approximates the natural logarithm of a positive number by the four basic operations.
pub fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52).cast_signed() - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | (1023 << 52));
    let y = (mantissa - 1.0) / (mantissa + 1.0);
    let y2 = y * y;
    let series = 2.0 * y * (1.0 + y2 * (1.0 / 3.0 + y2 * (1.0 / 5.0 + y2 * (1.0 / 7.0 + y2 * (1.0 / 9.0 + y2 / 11.0)))));
    exponent as f64 * std::f64::consts::LN_2 + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_logarithms() {
        for x in [0.0, -0.3, -1.0, -7.77, -100.5] {
            let exact = f64::exp2(x);
            assert!((power_of_two(x) - exact).abs() < 1e-4 * exact, "{x}");
        }
        for x in [1.0, 0.5, 0.999, 1e-6, 0.1] {
            assert!((logarithm(x) - f64::ln(x)).abs() < 1e-5 * (1.0 + f64::ln(x).abs()), "{x}");
        }
    }
}
