//! A connection, encrypted or not.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

/// What emails come over.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug> Stream for S {}

/// Any of them.
pub(super) type Wire = Box<dyn Stream>;
