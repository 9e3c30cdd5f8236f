use rstest::rstest;

use super::*;

fn known() -> Identities {
    let identities = Identities::default();
    identities.add_token("good", User::authenticated("by-token", &["readers"]));
    identities
}

fn by_certificate() -> Certificate {
    Certificate::Of(User::authenticated("by-certificate", &[]))
}

#[rstest]
#[case::nothing("", Certificate::Absent, Ok("system:anonymous"))]
#[case::a_token("Bearer good", Certificate::Absent, Ok("by-token"))]
#[case::the_scheme_in_small_letters("bearer good", Certificate::Absent, Ok("by-token"))]
#[case::spaces_around("  Bearer good  ", Certificate::Absent, Ok("by-token"))]
#[case::more_after_the_token("Bearer good more", Certificate::Absent, Ok("by-token"))]
#[case::an_unknown_token("Bearer bad", Certificate::Absent, Err(()))]
#[case::another_scheme("Basic good", Certificate::Absent, Ok("system:anonymous"))]
#[case::an_empty_token("Bearer  good", Certificate::Absent, Ok("system:anonymous"))]
#[case::the_scheme_alone("Bearer", Certificate::Absent, Ok("system:anonymous"))]
#[case::a_certificate("", by_certificate(), Ok("by-certificate"))]
#[case::a_certificate_before_a_token("Bearer good", by_certificate(), Ok("by-certificate"))]
#[case::a_certificate_and_a_bad_token("Bearer bad", by_certificate(), Ok("by-certificate"))]
#[case::a_bad_certificate("", Certificate::Invalid, Err(()))]
#[case::a_bad_certificate_and_a_token("Bearer good", Certificate::Invalid, Ok("by-token"))]
fn credentials_are_tried_in_order(
    #[case] header: &str,
    #[case] certificate: Certificate,
    #[case] wanted: Result<&str, ()>,
) {
    let mut headers = HeaderMap::new();
    if !header.is_empty() {
        headers.insert(AUTHORIZATION, header.parse().unwrap());
    }
    match (known().authenticate(&headers, &certificate), wanted) {
        (Ok(user), Ok(name)) => assert_eq!(user.name, name),
        (Err(error), Err(())) => {
            assert_eq!((error.code, error.message.as_str(), error.details), (401, "Unauthorized", None))
        }
        (got, wanted) => panic!("{got:?} instead of {wanted:?}"),
    }
}

#[test]
fn a_token_can_run_out() {
    let identities = known();
    let headers = HeaderMap::from_iter([(AUTHORIZATION, "Bearer good".parse().unwrap())]);
    assert!(identities.authenticate(&headers, &Certificate::Absent).is_ok());
    identities.remove_token("good");
    assert_eq!(identities.authenticate(&headers, &Certificate::Absent).unwrap_err().code, 401);
}

#[test]
fn who_is_known_is_in_the_group_of_everybody_known() {
    let headers = HeaderMap::from_iter([(AUTHORIZATION, "Bearer good".parse().unwrap())]);
    let user = known().authenticate(&headers, &Certificate::Absent).unwrap();
    assert_eq!(user.groups, ["readers", "system:authenticated"]);
}
