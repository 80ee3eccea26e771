// The agent's environment: one table drives the parser, `--help` and docs/reference/environment.md.

/** Where the package puts settings. docs/protocol.md ENV-33. */
export const AGENT_SETTINGS = {
  packagePath: '/usr/lib/svc-agent/defaults.env',
  path: '/etc/svc-agent/svc-agent.env',
} as const

export type AgentCommand =
  | 'enroll'
  | 'identity'
  | 'run'
  | 'rotate'
  | 'poll'
  | 'status'
  | 'check'
  | 'audit'
  | 'targets'
  | 'self-update'
  | 'tpm'

export interface AgentVariable {
  readonly name: string
  readonly requiredIn: readonly AgentCommand[]
  /** As a reader would write it; undefined when there is none. */
  readonly default: string | undefined
  readonly meaning: string
}

const TALKS_TO_HUB = ['run', 'rotate', 'poll'] as const

export const AGENT_VARIABLES = [
  {
    name: 'SVC_SERVER_URL',
    requiredIn: ['enroll', ...TALKS_TO_HUB],
    default: undefined,
    meaning: 'HTTPS URL of the hub’s enroll port',
  },
  {
    name: 'SVC_SERVER_MTLS_URL',
    requiredIn: [...TALKS_TO_HUB],
    default: undefined,
    meaning: 'HTTPS URL of the hub’s mTLS port',
  },
  {
    name: 'SVC_SERVER_CA_PATH',
    requiredIn: [],
    default: 'identity/ca.pem in the data directory; at enroll the system’s store',
    meaning: 'Root CA file that the hub’s certificate must chain to',
  },
  {
    name: 'SVC_AGENT_TRUST_KEY',
    requiredIn: [],
    default: 'what the hub names at enroll, if it names one',
    meaning:
      '<fleet>:<key>: this host trusts only roots that this minisign key, or one that it led to, signed; off demands no signature',
  },
  {
    name: 'SVC_AGENT_HOSTNAME',
    requiredIn: [],
    default: 'the OS hostname, lower case',
    meaning: 'Hostname of the enrolment token (enroll)',
  },
  {
    name: 'SVC_AGENT_ROLE',
    requiredIn: ['enroll'],
    default: undefined,
    meaning: 'Role of the enrolment token',
  },
  {
    name: 'SVC_AGENT_DATA_DIR',
    requiredIn: [],
    default: '/var/lib/svc-agent',
    meaning: 'Data directory',
  },
  {
    name: 'SVC_ENROLL_TOKEN',
    requiredIn: ['enroll'],
    default: undefined,
    meaning:
      'Enrolment token, works once; SVC_ENROLL_TOKEN_FILE replaces it, as does a key that the host has already',
  },
  {
    name: 'SVC_ENROLL_TOKEN_FILE',
    requiredIn: [],
    default: undefined,
    meaning:
      'File that holds the enrolment token, `-` for the standard input; others can read an environment from /proc, but not the file',
  },
  {
    name: 'SVC_ENROLL_HOST_CERTIFICATE',
    requiredIn: [],
    default: undefined,
    meaning:
      'File with a certificate of another PKI that this host enrols by in place of a token, its chain after it, PEM; with SVC_ENROLL_HOST_KEY',
  },
  {
    name: 'SVC_ENROLL_HOST_KEY',
    requiredIn: [],
    default: undefined,
    meaning: 'File with the private key of that certificate, PEM',
  },
  {
    name: 'SVC_ENROLL_SSH_HOST_KEY',
    requiredIn: [],
    default: undefined,
    meaning:
      'File with the private SSH host key that this host enrols by in place of a token; <file>-cert.pub beside it goes along',
  },
  {
    name: 'SVC_ENROLL_TPM',
    requiredIn: [],
    default: '0',
    meaning:
      '1: enrol by this host’s TPM 2.0 in place of a token; needs tpm2-tools and the group of /dev/tpmrm0, or TPM2TOOLS_TCTI',
  },
  {
    name: 'SVC_ALLOW_HTTP',
    requiredIn: [],
    default: '0',
    meaning: '1 allows a plain http SVC_SERVER_URL that is not loopback (enroll)',
  },
  {
    name: 'SVC_AGENT_POLL_INTERVAL',
    requiredIn: [],
    default: '30s',
    meaning: 'Time between two polls of the manifest',
  },
  {
    name: 'SVC_AGENT_RENEWAL_THRESHOLD',
    requiredIn: [],
    default: '6h',
    meaning:
      'The agent renews a certificate when less than this, or less than a third of its life, is left',
  },
  {
    name: 'SVC_AGENT_OUT_DIR',
    requiredIn: [],
    default: 'out in the data directory',
    meaning: 'Where the agent writes delivered certificates and keys',
  },
  {
    name: 'SVC_AGENT_STATE_DIR',
    requiredIn: [],
    default: 'state in the data directory',
    meaning: 'Where the agent keeps processed.json and the outbox',
  },
  {
    name: 'SVC_AGENT_HOOK_DIR',
    requiredIn: [],
    default: 'hooks in the data directory',
    meaning: 'Where the agent looks for post-csr-cert and post-csr-cert.d/',
  },
  {
    name: 'SVC_AGENT_TARGETS_DIR',
    requiredIn: [],
    default: 'targets.d in the data directory',
    meaning: 'Directory of the TOML files that say where deliveries go on this host',
  },
  {
    name: 'SVC_AGENT_TARGETS_STATE_DIR',
    requiredIn: [],
    default:
      'targets-state in the data directory; for root the data directory’s path with -targets appended',
    meaning: 'Where the user who applies targets keeps the journal and the old copies',
  },
  {
    name: 'SVC_AGENT_STREAM',
    requiredIn: [],
    default: 'on',
    meaning: 'off: run holds no stream, and learns what is new when it polls',
  },
  {
    name: 'SVC_LABELS',
    requiredIn: [],
    default: undefined,
    meaning:
      'What run tells the hub of this host beside what it sees itself, such as rack=r7,site=fra: labels host.rack and host.site, which decide nothing',
  },
  {
    name: 'SVC_AGENT_SUPERVISED',
    requiredIn: [],
    default: '0',
    meaning: '1 says that a supervisor starts run again when it ends, as after self-update',
  },
  {
    name: 'SVC_AGENT_UPDATE_URL',
    requiredIn: [],
    default: undefined,
    meaning:
      'Where announced versions of the agent are, with {version} and {arch} in it: set, the host follows what its hub announces; without it, it does not',
  },
  {
    name: 'SVC_AGENT_METRICS_BIND',
    requiredIn: [],
    default: 'off',
    meaning:
      'Bind address of /metrics, /livez and /readyz of run, such as 127.0.0.1:9465 (plain HTTP, open to everybody who reaches it)',
  },
  {
    name: 'SVC_LANG',
    requiredIn: [],
    default: 'en',
    meaning: 'en or pt: in which language commands print labels and states',
  },
  {
    name: 'RUST_LOG',
    requiredIn: [],
    default: 'info',
    meaning: 'Log filter: a level, or a list such as info,agent.poll=debug',
  },
  {
    name: 'SVC_LOG_FORMAT',
    requiredIn: [],
    default: 'text on a terminal and in the journal, else json',
    meaning: 'text or json',
  },
  {
    name: 'HTTPS_PROXY',
    requiredIn: [],
    default: undefined,
    meaning: 'Proxy for the enroll port; the agent always reaches the mTLS port directly',
  },
  {
    name: 'NO_PROXY',
    requiredIn: [],
    default: undefined,
    meaning: 'Hosts that the agent reaches without the proxy',
  },
] as const satisfies readonly AgentVariable[]

export type AgentVariableName = (typeof AGENT_VARIABLES)[number]['name']

/** The table as the end of `--help`. */
export function describeVariables(): string {
  const rows = AGENT_VARIABLES.map((variable: AgentVariable) => {
    const notes = [
      variable.requiredIn.length > 0 ? `required in ${variable.requiredIn.join(', ')}` : undefined,
      variable.default === undefined ? undefined : `default: ${variable.default}`,
    ].filter((note) => note !== undefined)
    const suffix = notes.length > 0 ? ` (${notes.join('; ')})` : ''
    return `  ${variable.name.padEnd(28)} ${variable.meaning}${suffix}`
  })
  return ['Environment:', ...rows].join('\n')
}
