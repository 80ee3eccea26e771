// The `SVC_…` variables of hub and agent. The two may share an environment file, so neither warns about the other's;
// what they mean is in the table of each.

export const HUB_VARIABLE_NAMES: readonly string[] = [
  'SVC_MASTER_PASSPHRASE',
  'SVC_MASTER_PASSPHRASE_FILE',
  'SVC_CA_URL',
  'SVC_CA_PROVISIONER_KID',
  'SVC_CA_PROVISIONER_KEY',
  'SVC_CA_PROVISIONER_KEY_FILE',
  'SVC_CA_ROOT_CA_PATH',
  'SVC_CA_PROVISIONER_NAME',
  'SVC_VAULT_ROOT',
  'SVC_SERVER_CN',
  'SVC_SERVER_SANS',
  'SVC_HEALTH_BIND',
  'SVC_ENROLL_BIND',
  'SVC_ENROLL_TLS_BIND',
  'SVC_PUBLIC_URL',
  'SVC_MTLS_BIND',
  'SVC_ADMIN_BIND',
  'SVC_METRICS_BIND',
  'SVC_METRICS_CERTIFICATES',
  'SVC_RENEWAL_THRESHOLD',
  'SVC_IDENTITY_MATCH',
  'SVC_RECOVERY_GRACE',
  'SVC_TRUSTED_PROXIES',
  'SVC_BLOB_MAX',
  'SVC_WEBHOOK_CA_PATH',
  'SVC_CHECKPOINT_PATH',
  'SVC_BACKUP_DIR',
  'SVC_BACKUP_INTERVAL',
  'SVC_BACKUP_KEEP',
  'SVC_LOG_FORMAT',
  'SVC_LIMIT_BODY',
  'SVC_LIMIT_CSR',
  'SVC_LIMIT_EVENT_PAYLOAD',
  'SVC_LIMIT_JSON_DEPTH',
  'SVC_LIMIT_HEADERS_SECONDS',
  'SVC_LIMIT_REQUEST_SECONDS',
  'SVC_LIMIT_RESPONSE_SECONDS',
  'SVC_LIMIT_HANDSHAKE_SECONDS',
  'SVC_LIMIT_CONNECTIONS',
  'SVC_LIMIT_CONNECTIONS_PER_ADDRESS',
  'SVC_LIMIT_HANDSHAKES_PER_ADDRESS',
  'SVC_LIMIT_ENROLL_FAILURES',
  'SVC_LIMIT_ADMIN_FAILURES',
  'SVC_LIMIT_EVENTS',
  'SVC_LIMIT_EVENT_BYTES',
  'SVC_LIMIT_ISSUE',
  'SVC_LIMIT_FREE_SPACE',
  'SVC_LIMIT_BACKUP_HELD',
]

/** Variables of `svc` alone; it also reads variables of the hub. */
export const CLI_VARIABLE_NAMES: readonly string[] = [
  'SVC_HUB',
  'SVC_HUB_TOKEN_FILE',
  'SVC_HUB_CA',
  'SVC_LANG',
]

export const AGENT_VARIABLE_NAMES: readonly string[] = [
  'SVC_SERVER_URL',
  'SVC_SERVER_MTLS_URL',
  'SVC_SERVER_CA_PATH',
  'SVC_AGENT_HOSTNAME',
  'SVC_AGENT_ROLE',
  'SVC_AGENT_DATA_DIR',
  'SVC_ENROLL_TOKEN',
  'SVC_ENROLL_TOKEN_FILE',
  'SVC_ALLOW_HTTP',
  'SVC_AGENT_POLL_INTERVAL',
  'SVC_AGENT_RENEWAL_THRESHOLD',
  'SVC_AGENT_OUT_DIR',
  'SVC_AGENT_STATE_DIR',
  'SVC_AGENT_HOOK_DIR',
  'SVC_AGENT_TARGETS_DIR',
  'SVC_AGENT_TARGETS_STATE_DIR',
  'SVC_AGENT_STREAM',
  'SVC_AGENT_SUPERVISED',
  'SVC_AGENT_METRICS_BIND',
  'SVC_LANG',
  'SVC_LOG_FORMAT',
]

export const VARIABLE_NAMES: readonly string[] = [
  ...new Set([...HUB_VARIABLE_NAMES, ...AGENT_VARIABLE_NAMES, ...CLI_VARIABLE_NAMES]),
]

/** Variables with our prefix that no program reads: most likely misspelt. */
export function findUnknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && !VARIABLE_NAMES.includes(name))
    .sort()
}
