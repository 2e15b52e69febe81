//! What the tests of this crate share: a resolver of ours, and a fetcher that may reach one server.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use browser::{BrowserConfig, Dialer, Fetcher, Resolve};
use testkit::web::WebServer;
use tool_core::BoxFuture;

/// A resolver whose answers are written down; the last of a name's answers is given again and again.
#[derive(Debug, Default)]
pub struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<SocketAddr>>>>,
    asked: AtomicUsize,
}

impl Names {
    pub fn new(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let address = |text: &&str| match text.parse() {
            Ok(address) => SocketAddr::new(address, 0),
            Err(_) => text.parse().unwrap(),
        };
        let answers = names.iter().map(|(name, answers)| {
            let answers = answers.iter().map(|one| one.iter().map(address).collect()).collect();
            ((*name).to_owned(), answers)
        });
        Arc::new(Self { answers: Mutex::new(answers.collect()), asked: AtomicUsize::new(0) })
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let answer = match answers.get_mut(name) {
            Some(all) if all.len() > 1 => Ok(all.remove(0)),
            Some(all) => Ok(all[0].clone()),
            None => Err(io::Error::other("no such name")),
        };
        Box::pin(async move { answer })
    }
}

/// A configuration that allows exactly these servers, without delays.
pub fn allowing(servers: &[&WebServer]) -> BrowserConfig {
    BrowserConfig {
        enabled: true,
        internal_hosts: servers.iter().map(|server| server.host()).collect(),
        host_delay_ms: 0,
        ..BrowserConfig::default()
    }
}

/// A fetcher of a configuration, with names that stand for nothing.
pub fn fetcher(config: &BrowserConfig) -> Fetcher {
    fetcher_with(config, Names::new(&[]))
}

pub fn fetcher_with(config: &BrowserConfig, names: Arc<dyn Resolve>) -> Fetcher {
    Fetcher::new(config, Dialer::of_config(config, names).unwrap()).unwrap()
}
