//! Defines functions that intercept MPI's.

/// Defines exported functions `name(arguments) -> int`. `native` is the call that goes on,
/// unchanged; the body runs for calls of the program alone.
macro_rules! interpose {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) |$native:ident| $body:block)*) => {$(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) -> std::ffi::c_int {
            // SAFETY: the function behind has the same type; the arguments are passed on as they
            // came.
            let $native = || unsafe { $crate::next::next!($name: fn($($type),*))($($arg),*) };
            if $crate::guard::passes() {
                return $native();
            }
            $crate::guard::run(|| $body, $native)
        }
    )*};
}
pub(crate) use interpose;
