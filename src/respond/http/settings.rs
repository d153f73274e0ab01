//! Which headers tell clients how much is left, and how: said in the same words to all who write them.

use super::{answers::HttpAnswers, fields::ResetUnit, grpc::GrpcAnswers, headers::Names};
use crate::{
    extract::header_name,
    invalid::{self, Invalid},
};

macro_rules! settings {
    ($($answers:ident),*) => {$(
        impl $answers {
            /// Other names for `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, in this order.
            ///
            /// # Panics
            /// When no header can be called that.
            #[must_use]
            #[track_caller]
            pub fn header_names(self, names: [&str; 3]) -> Self {
                invalid::expect(self.try_header_names(names))
            }

            /// Other names for the X- headers, or an error when no header can be called that.
            pub fn try_header_names(mut self, names: [&str; 3]) -> Result<Self, Invalid> {
                let [limit, remaining, reset] = names.map(header_name);
                self.headers.names = Names::Own([limit?, remaining?, reset?]);
                Ok(self)
            }

            /// Without the X- headers.
            #[must_use]
            pub fn without_x_headers(mut self) -> Self {
                self.headers.names = Names::None;
                self
            }

            /// Without `RateLimit` and `RateLimit-Policy`.
            ///
            /// For clients that know earlier drafts only: some, once they see `RateLimit`, look at no other header, and cannot
            /// read it.
            #[must_use]
            pub fn without_ietf_headers(mut self) -> Self {
                self.headers.ietf = false;
                self
            }

            /// How `X-RateLimit-Reset` tells a time: since the epoch, unless told otherwise.
            #[must_use]
            pub fn reset_unit(mut self, unit: ResetUnit) -> Self {
                self.headers.reset = unit;
                self
            }
        }
    )*};
}

settings![HttpAnswers, GrpcAnswers];
