//! `snapshot_create`, `snapshot_restore`, `snapshot_list`, `snapshot_delete`.

use serde_json::{Value, json};
use tool_core::{ToolOutput, ValidatedArgs};

use super::{
    failure::Failure,
    operations::{Operations, needed_session},
};
use crate::{SessionId, Snapshot};

impl Operations {
    pub(super) async fn snapshot(
        &self,
        operation: &str,
        args: &ValidatedArgs,
    ) -> Result<ToolOutput, Failure> {
        let (id, manager) = (needed_session(args)?, &self.manager);
        let snapshot = args.get_str("snapshot_id").unwrap_or_default();
        Ok(ToolOutput::json(match operation {
            "snapshot_create" => one(id, &manager.create_snapshot(id).await?),
            "snapshot_restore" => {
                let mut all = one(id, &manager.restore_snapshot(id, snapshot).await?);
                all["restored"] = true.into();
                all["note"] = "The files are as they were; variables are not put back.".into();
                all
            }
            "snapshot_delete" => {
                manager.delete_snapshot(id, snapshot).await?;
                json!({"session_id": id.to_string(), "snapshot_id": snapshot, "deleted": true})
            }
            _ => {
                let all: Vec<_> = manager.snapshots(id).await?.iter().map(described).collect();
                json!({"session_id": id.to_string(), "snapshots": all})
            }
        }))
    }
}

fn one(id: SessionId, snapshot: &Snapshot) -> Value {
    let mut all = described(snapshot);
    all["session_id"] = id.to_string().into();
    all
}

fn described(snapshot: &Snapshot) -> Value {
    let mut all = json!({
        "snapshot_id": snapshot.id,
        "files": snapshot.files,
        "bytes": snapshot.bytes,
        "age_secs": snapshot.made.elapsed().as_secs(),
    });
    if snapshot.left_out > 0 {
        all["left_out"] = snapshot.left_out.into();
    }
    all
}
