//! A connection, encrypted or not.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

/// A connection that emails arrive over.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug> Stream for S {}

/// A connection of either kind.
pub(super) type Wire = Box<dyn Stream>;
