//! A server's address: scheme, authority and base path, checked once.

use std::net::IpAddr;

use http::Uri;
use http::uri::Scheme;

/// Where requests go. Not `Debug`: an address is not for logs.
#[derive(Clone)]
pub(super) struct Endpoint {
    /// `https://host:port/base`, without a slash at its end.
    prefix: String,
    /// As in the `host` header.
    authority: String,
    host: String,
    tls: bool,
}

impl Endpoint {
    /// Checks a kubeconfig's `server`.
    ///
    /// # Errors
    /// What is wrong with it, in words that do not repeat it.
    pub(super) fn parse(server: &str) -> Result<Endpoint, &'static str> {
        // As kubectl does with a bare host.
        let server = server.trim();
        let full = if server.contains("://") { server.to_owned() } else { format!("https://{server}") };
        if full.contains('#') {
            return Err("it has a fragment");
        }
        let uri: Uri = full.parse().map_err(|_| "it is not a URL")?;
        let tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err("its scheme is neither https nor http"),
        };
        let authority = uri.authority().ok_or("it has no host")?;
        if authority.as_str().contains('@') {
            return Err("it holds a user or password");
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err("it has no host");
        }
        if authority.as_str().len() > authority.host().len() && authority.port_u16().is_none_or(|port| port == 0) {
            return Err("its port is not a number from 1 to 65535");
        }
        if uri.query().is_some() {
            return Err("it has a query");
        }
        if !tls && !may_be_loopback(&host) {
            return Err("plain http is allowed only to this machine's loopback address");
        }
        let base = uri.path().trim_end_matches('/');
        if base.split('/').any(|segment| segment == "." || segment == "..") {
            return Err("its path has dot segments");
        }
        let scheme = if tls { "https" } else { "http" };
        Ok(Endpoint {
            prefix: format!("{scheme}://{authority}{base}"),
            authority: authority.as_str().to_owned(),
            host,
            tls,
        })
    }

    /// The URL of a target, which begins with `/`; none if it would be anywhere but below the base path.
    pub(super) fn url(&self, target: &str) -> Option<Uri> {
        if !target.starts_with('/') || target.contains('#') {
            return None;
        }
        let uri: Uri = format!("{}{target}", self.prefix).parse().ok()?;
        // `parse` takes the text apart again: what it took for the host must be ours.
        let same = uri.authority().is_some_and(|authority| authority.as_str() == self.authority);
        let dots = uri.path().split('/').any(|segment| segment == "." || segment == "..");
        (same && !dots).then_some(uri)
    }

    /// The whole of it, as a kubeconfig would have it: for the operator only.
    pub(super) fn shown(&self) -> &str {
        &self.prefix
    }

    /// The value of the `host` header.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// Name or address, without brackets.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Whether it is `https`.
    pub(super) fn tls(&self) -> bool {
        self.tls
    }
}

/// A loopback address, or the name for one. What the name resolves to is checked again when connecting.
fn may_be_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("https://h:6443", "/apis", "https://h:6443/apis")]
    #[case::no_scheme("h:6443", "/apis", "https://h:6443/apis")]
    #[case::slash("https://h/", "/apis", "https://h/apis")]
    #[case::base("https://h/k8s/clusters/c1/", "/api/v1?limit=1", "https://h/k8s/clusters/c1/api/v1?limit=1")]
    #[case::six("https://[::1]:6443", "/api", "https://[::1]:6443/api")]
    #[case::loopback("http://127.0.0.1:8001", "/api", "http://127.0.0.1:8001/api")]
    #[case::localhost("http://LocalHost:8001", "/api", "http://LocalHost:8001/api")]
    #[case::loopback_six("http://[::1]", "/api", "http://[::1]/api")]
    fn good(#[case] server: &str, #[case] target: &str, #[case] url: &str) {
        let endpoint = Endpoint::parse(server).map_err(|why| why.to_owned()).unwrap();
        assert_eq!(endpoint.url(target).unwrap().to_string(), url.replace("LocalHost", endpoint.host()));
    }

    #[rstest]
    #[case::empty("", "not a URL")]
    #[case::blank("https://", "not a URL")]
    #[case::scheme("ftp://h", "neither https nor http")]
    #[case::file("file:///etc/passwd", "not a URL")]
    #[case::user("https://me:pw@h", "user or password")]
    #[case::query("https://h/?a=b", "query")]
    #[case::fragment("https://h/#a", "fragment")]
    #[case::dots("https://h/a/../b", "dot segments")]
    #[case::port("https://h:99999", "port")]
    #[case::port_zero("https://h:0", "port")]
    #[case::plain_name("http://example.com", "loopback")]
    #[case::plain_address("http://10.0.0.1:8080", "loopback")]
    #[case::plain_any("http://0.0.0.0:8080", "loopback")]
    #[case::localhost_suffix("http://localhost.example.com", "loopback")]
    fn bad(#[case] server: &str, #[case] why: &str) {
        let said = Endpoint::parse(server).err().unwrap();
        assert!(said.contains(why), "{said}");
    }

    #[rstest]
    #[case::authority("@evil/api")]
    #[case::port(":443/api")]
    #[case::relative("api")]
    #[case::empty("")]
    #[case::dots("/api/../../secrets")]
    #[case::fragment("/api#x")]
    #[case::space("/a b")]
    fn no_way_out(#[case] target: &str) {
        assert!(Endpoint::parse("https://h/base").ok().unwrap().url(target).is_none());
    }
}
