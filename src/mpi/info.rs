//! Info objects.

use std::ffi::CString;

use super::constants::RSMPI_INFO_NULL;
use super::{MPI_Info, check};
use crate::error::Result;
use crate::util::cast::to_usize;

unsafe extern "C" {
    safe static mpixn_max_info_val: std::ffi::c_int;
    safe static mpixn_max_info_key: std::ffi::c_int;
}

/// `MPI_INFO_NULL`.
pub fn null() -> MPI_Info {
    RSMPI_INFO_NULL
}

/// Returns true if a handle is `MPI_INFO_NULL`.
pub fn is_null(info: MPI_Info) -> bool {
    info == RSMPI_INFO_NULL
}

/// Returns the keys of an info object; none if it is null.
///
/// # Safety
/// `info` must be an info object or `MPI_INFO_NULL`.
pub unsafe fn keys(info: MPI_Info) -> Result<Vec<String>> {
    // SAFETY: the caller vouches for the handle; the buffer has room for the longest key and its
    // end.
    unsafe {
        let mut count = 0;
        if !is_null(info) {
            check(mpi_sys::MPI_Info_get_nkeys(info, &mut count), "MPI_Info_get_nkeys")?;
        }
        let mut buffer = vec![0u8; to_usize(mpixn_max_info_key) + 1];
        (0..count)
            .map(|n| {
                check(mpi_sys::MPI_Info_get_nthkey(info, n, buffer.as_mut_ptr().cast()), "MPI_Info_get_nthkey")?;
                let end = buffer.iter().position(|&b| b == 0).unwrap_or(buffer.len());
                Ok(String::from_utf8_lossy(&buffer[..end]).into_owned())
            })
            .collect()
    }
}

/// Returns the value of a key, or `None` if the info object is null or has no such key.
///
/// # Safety
/// `info` must be an info object or `MPI_INFO_NULL`.
pub unsafe fn get(info: MPI_Info, key: &str) -> Result<Option<String>> {
    // SAFETY: the caller vouches for the handle; the buffer has room for the longest value and its
    // end.
    unsafe {
        if is_null(info) {
            return Ok(None);
        }
        let key = CString::new(key).unwrap_or_default();
        let mut value = vec![0u8; to_usize(mpixn_max_info_val) + 1];
        let mut found = 0;
        check(
            mpi_sys::MPI_Info_get(info, key.as_ptr(), mpixn_max_info_val, value.as_mut_ptr().cast(), &mut found),
            "MPI_Info_get",
        )?;
        let end = value.iter().position(|&b| b == 0).unwrap_or(value.len());
        Ok((found != 0).then(|| String::from_utf8_lossy(&value[..end]).into_owned()))
    }
}
