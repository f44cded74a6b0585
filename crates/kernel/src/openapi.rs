//! How the kernel's own words are described in an OpenAPI document, where a derive cannot know: ids
//! and moments are texts, and a value that is checked when it is read looks like what it is read from.

/// A text of a certain form, described where it is used.
macro_rules! text {
    ($name:ty, $pattern:expr) => {
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::Type::String)
                    .pattern(Some($pattern))
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {}
    };
}
pub(crate) use text;

/// A moment, as RFC 3339 writes it.
macro_rules! moment {
    ($name:ty) => {
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let format = utoipa::openapi::SchemaFormat::KnownFormat(
                    utoipa::openapi::KnownFormat::DateTime,
                );
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::Type::String)
                    .format(Some(format))
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {}
    };
}
pub(crate) use moment;

/// What is checked when it is read looks like what it is read from.
macro_rules! same_as {
    ($name:ty, $wire:ty) => {
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                <$wire as utoipa::PartialSchema>::schema()
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                <$wire as utoipa::ToSchema>::name()
            }

            fn schemas(
                schemas: &mut Vec<(
                    String,
                    utoipa::openapi::RefOr<utoipa::openapi::schema::Schema>,
                )>,
            ) {
                <$wire as utoipa::ToSchema>::schemas(schemas);
            }
        }
    };
}
pub(crate) use same_as;
