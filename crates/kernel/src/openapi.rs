//! OpenAPI schemas that a derive cannot produce: ids and moments are strings, and a type that is
//! validated on reading has the schema of its wire type.

/// The schema of a string with a pattern. The document calls it by the name of the type, or by
/// the public name that is given.
macro_rules! text {
    ($name:ident, $pattern:expr) => {
        crate::openapi::text!($name as $name, $pattern);
    };
    ($name:ident as $public:ident, $pattern:expr) => {
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::Type::String)
                    .pattern(Some($pattern))
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                stringify!($public).into()
            }
        }
    };
}
pub(crate) use text;

/// The schema of an RFC 3339 timestamp.
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

/// Gives a type that is validated on reading the schema of its wire type.
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
