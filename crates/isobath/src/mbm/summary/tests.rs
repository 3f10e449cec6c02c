use super::*;
use crate::kit::published;
use crate::mbm::tables::Arrival;

#[test]
fn what_is_published_about_the_record_is_true() {
    published::schema::<Summary>("mbm");
    published::columns::<Arrival>();
}
