//! Real engines, reached in every way there is, and sockets behind which there is none.

mod missing;
mod remote;

use bollard::query_parameters::{
    AttachContainerOptions, CreateContainerOptions, RemoveContainerOptions, StartContainerOptions,
};
use futures_util::StreamExt;
use tokio::io::AsyncWriteExt;

use super::{Engine, EngineEnvironment, connect};
use crate::DockerConfig;

/// A section that leaves the choice to the environment.
fn told(fill: impl FnOnce(&mut EngineEnvironment)) -> DockerConfig {
    let mut config = DockerConfig::default();
    fill(&mut config.environment);
    config
}

/// A container that says what it hears, attached; what is said to it comes back.
async fn echoes(engine: &Engine, image: &str) {
    let body = bollard::models::ContainerCreateBody {
        image: Some(image.to_owned()),
        cmd: Some(vec!["cat".to_owned()]),
        open_stdin: Some(true),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        host_config: Some(bollard::models::HostConfig {
            network_mode: Some("none".to_owned()),
            ..Default::default()
        }),
        ..Default::default()
    };
    let docker = &engine.docker;
    let id = docker.create_container(None::<CreateContainerOptions>, body).await.unwrap().id;
    let options =
        AttachContainerOptions { stdin: true, stdout: true, stream: true, ..Default::default() };
    let mut attached = docker.attach_container(&id, Some(options)).await.unwrap();
    docker.start_container(&id, None::<StartContainerOptions>).await.unwrap();
    for word in ["one\n", "two\n"] {
        attached.input.write_all(word.as_bytes()).await.unwrap();
        let heard = attached.output.next().await.unwrap().unwrap();
        assert_eq!(heard.to_string(), word);
    }
    let force = Some(RemoveContainerOptions { force: true, ..Default::default() });
    docker.remove_container(&id, force).await.unwrap();
}

#[tokio::test]
async fn an_engine_is_reached_that_the_section_the_environment_or_a_context_names() {
    let Some(engine) = testkit::docker::engine() else { return };
    let folder = tempfile::tempdir().unwrap();
    let meta = folder.path().join("contexts/meta").join(super::contexts::id("here"));
    std::fs::create_dir_all(&meta).unwrap();
    let text = serde_json::json!({
        "Name": "here", "Metadata": {}, "Endpoints": {"docker": {"Host": engine.host()}},
    });
    std::fs::write(meta.join("meta.json"), text.to_string()).unwrap();
    std::fs::write(folder.path().join("config.json"), r#"{"currentContext": "here"}"#).unwrap();
    let settings = Some(folder.path().to_string_lossy().into_owned());
    let by_section = DockerConfig {
        host: Some(engine.host()),
        ..told(|it| it.docker_host = Some("tcp://9".into()))
    };
    let by_environment = told(|it| it.docker_host = Some(engine.host()));
    let by_context = told(|it| it.docker_config = settings);
    for (config, by) in [
        (by_section, "sandbox.docker.host"),
        (by_environment, "DOCKER_HOST"),
        (by_context, "the context in use, context \"here\""),
    ] {
        let found = connect(&config).await.unwrap();
        assert_eq!(found.place, format!("{} ({by})", engine.host()));
        assert!(found.is_local);
        assert!(found.version.version.is_some());
    }
}

#[tokio::test]
async fn what_is_said_over_a_socket_is_heard() {
    let Some(engine) = testkit::docker::engine() else { return };
    let found = connect(&told(|it| it.docker_host = Some(engine.host()))).await.unwrap();
    echoes(&found, testkit::docker::IMAGE).await;
}
