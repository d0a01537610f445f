//! The names of all hints: info keys and environment variables.

/// A hint's names: (info key, environment variable).
pub(super) type Names = (&'static str, &'static str);

pub(super) const SCHEDULE: Names = ("mpix_schedule", "MPIX_SCHEDULE");
pub(super) const SPLIT: Names = ("mpix_split", "MPIX_SPLIT");
pub(super) const SEED: Names = ("mpix_seed", "MPIX_SEED");
pub(super) const DUPLEX: Names = ("mpix_duplex", "MPIX_DUPLEX");
pub(super) const ROUND_WINDOW: Names = ("mpix_round_window", "MPIX_ROUND_WINDOW");
pub(super) const WEIGHT_UNIT: Names = ("mpix_weight_unit", "MPIX_WEIGHT_UNIT");
pub(super) const LOGGP: Names = ("mpix_loggp", "MPIX_LOGGP");
pub(super) const GRAPH_LIMIT: Names = ("mpix_graph_limit", "MPIX_GRAPH_LIMIT");
pub(super) const REDUCE_ORDER: Names = ("mpix_reduce_order", "MPIX_REDUCE_ORDER");
pub(super) const WHOLE_COMMUNICATOR: Names = ("mpix_whole_communicator", "MPIX_WHOLE_COMMUNICATOR");
pub(super) const NODES: Names = ("mpix_nodes", "MPIX_NODES");
pub(super) const FUSE: Names = ("mpix_fuse", "MPIX_FUSE");
/// For persistent collectives only; has no environment variable.
pub(super) const MATCH: &str = "mpix_match";
pub(super) const SHARED_MEMORY: Names = ("mpix_shared_memory", "MPIX_SHARED_MEMORY");
pub(super) const SINGLE_COPY: Names = ("mpix_single_copy", "MPIX_SINGLE_COPY");
pub(super) const TRANSPORT: Names = ("mpix_transport", "MPIX_TRANSPORT");
pub(super) const RMA_SYNCHRONIZATION: Names = ("mpix_rma_synchronization", "MPIX_RMA_SYNCHRONIZATION");
pub(super) const RMA_STRAIGHT: Names = ("mpix_rma_straight", "MPIX_RMA_STRAIGHT");
pub(super) const VERIFY: Names = ("mpix_verify", "MPIX_NEIGHBOR_VERIFY");
pub(super) const SPARSE: Names = ("mpix_sparse", "MPIX_SPARSE");
pub(super) const SPARSE_TARGETS: Names = ("mpix_sparse_targets", "MPIX_SPARSE_TARGETS");
pub(super) const NODE_SIZE: Names = ("mpix_node_size", "MPIX_NODE_SIZE");
pub(super) const MATCHED_PROBE: Names = ("mpix_matched_probe", "MPIX_MATCHED_PROBE");
pub(super) const WINDOW_BATCH: Names = ("mpix_window_batch", "MPIX_WINDOW_BATCH");
pub(super) const WINDOW_AGGREGATE: Names = ("mpix_window_aggregate", "MPIX_WINDOW_AGGREGATE");
pub(super) const LOGGP_SECONDS: Names = ("mpix_loggp_seconds", "MPIX_LOGGP_SECONDS");
pub(super) const LOGGP_BYTES: Names = ("mpix_loggp_bytes", "MPIX_LOGGP_BYTES");
/// Environment variable: a file with the machine's parameters, used if no other source gives them.
pub(super) const LOGGP_FILE: &str = "MPIX_LOGGP_FILE";
