// The hub's environment. The table is the reference: parser, `--help` and docs/reference/environment.md follow it.

import { HUB_LIMITS } from '../protocol/hub-limits.ts'

/** Who signs: docs/protocol.md CAX-15. */
export const CA_KINDS = ['step', 'openbao', 'acme'] as const
export type CaKind = (typeof CA_KINDS)[number]

interface Variable {
  readonly name: string
  readonly required: boolean
  /** Of a hub whose CA is of this kind. */
  readonly kind?: CaKind | undefined
  readonly default: string
  readonly meaning: string
  /** A secret may also come as NAME_FILE, the path of a file that holds it. */
  readonly isSecret?: boolean
}

/** Whether a hub whose CAs are of these kinds reads it. */
export function isReadBy({ kind }: Pick<Variable, 'kind'>, kinds: ReadonlySet<CaKind>): boolean {
  return kind === undefined || kinds.has(kind)
}

export const HUB_VARIABLES: readonly Variable[] = [
  {
    name: 'SVC_MASTER_PASSPHRASE',
    required: true,
    default: '',
    meaning: 'Master vault passphrase.',
    isSecret: true,
  },
  {
    name: 'SVC_CA_KIND',
    required: false,
    default: 'step',
    meaning:
      'Who signs: `step`, a step-ca or svc-ca; `openbao`, the PKI of an OpenBao or a Vault; `acme`, an ACME CA for what is delivered, and SVC_IDENTITY_CA_KIND for the rest.',
  },
  {
    name: 'SVC_IDENTITY_CA_KIND',
    required: false,
    kind: 'acme',
    default: 'step',
    meaning:
      '`step` or `openbao`: who signs the identities of agents, and the certificate of the hub itself, beside an ACME CA.',
  },
  { name: 'SVC_CA_URL', required: true, default: '', meaning: 'HTTPS URL of the CA.' },
  {
    name: 'SVC_CA_PROVISIONER_KID',
    required: true,
    kind: 'step',
    default: '',
    meaning: 'Key id of the CA’s JWK provisioner.',
  },
  {
    name: 'SVC_CA_PROVISIONER_KEY',
    required: true,
    kind: 'step',
    default: '',
    meaning: 'The provisioner’s private JWK as one-line JSON (EC, P-256, ES256).',
    isSecret: true,
  },
  {
    name: 'SVC_CA_ROOT_CA_PATH',
    required: true,
    default: '',
    meaning: 'Path of the CA’s root certificate, PEM.',
  },
  {
    name: 'SVC_CA_PROVISIONER_NAME',
    required: false,
    kind: 'step',
    default: 'the hub asks the CA, by key id',
    meaning: 'Name of the CA’s JWK provisioner.',
  },
  {
    name: 'SVC_CA_TLS_ROOT_PATH',
    required: false,
    kind: 'openbao',
    default: 'the roots in force',
    meaning:
      'Path of root certificates, PEM, by which the hub knows the server of SVC_CA_URL, where that has its certificate from elsewhere.',
  },
  {
    name: 'SVC_OPENBAO_ROLE',
    required: true,
    kind: 'openbao',
    default: '',
    meaning: 'Role by whose rules the PKI signs.',
  },
  {
    name: 'SVC_OPENBAO_MOUNT',
    required: false,
    kind: 'openbao',
    default: 'pki',
    meaning: 'Path at which the PKI is enabled.',
  },
  {
    name: 'SVC_OPENBAO_NAMESPACE',
    required: false,
    kind: 'openbao',
    default: '',
    meaning: 'Namespace in which the PKI and the login are.',
  },
  {
    name: 'SVC_OPENBAO_TOKEN',
    required: false,
    kind: 'openbao',
    default: '',
    meaning: 'Token for the PKI, which the hub renews; this or SVC_OPENBAO_ROLE_ID.',
    isSecret: true,
  },
  {
    name: 'SVC_OPENBAO_ROLE_ID',
    required: false,
    kind: 'openbao',
    default: '',
    meaning: 'RoleID with which the hub logs in by AppRole.',
  },
  {
    name: 'SVC_OPENBAO_SECRET_ID',
    required: false,
    kind: 'openbao',
    default: '',
    meaning: 'SecretID of that role, good for any number of logins.',
    isSecret: true,
  },
  {
    name: 'SVC_OPENBAO_LOGIN_MOUNT',
    required: false,
    kind: 'openbao',
    default: 'approle',
    meaning: 'Path at which AppRole is enabled.',
  },
  {
    name: 'SVC_ACME_DIRECTORY',
    required: true,
    kind: 'acme',
    default: '',
    meaning: 'HTTPS URL of the ACME CA’s directory.',
  },
  {
    name: 'SVC_ACME_ACCOUNT_KEY',
    required: true,
    kind: 'acme',
    default: '',
    meaning: 'Private key of the hub’s account there, PEM (EC, P-256).',
    isSecret: true,
  },
  {
    name: 'SVC_ACME_HOOK',
    required: true,
    kind: 'acme',
    default: '',
    meaning: 'Path of the program that shows, and takes away, the proof of control over a name.',
  },
  {
    name: 'SVC_ACME_CHALLENGE',
    required: false,
    kind: 'acme',
    default: 'dns-01',
    meaning: '`dns-01` or `http-01`: what kind of proof that is.',
  },
  {
    name: 'SVC_ACME_EAB_KID',
    required: false,
    kind: 'acme',
    default: '',
    meaning: 'Key id of the external account, where the ACME CA wants one.',
  },
  {
    name: 'SVC_ACME_EAB_KEY',
    required: false,
    kind: 'acme',
    default: '',
    meaning: 'MAC key of that external account, base64url.',
    isSecret: true,
  },
  {
    name: 'SVC_ACME_TLS_ROOT_PATH',
    required: false,
    kind: 'acme',
    default: 'the roots in force',
    meaning:
      'Path of root certificates, PEM, by which the hub knows the server of SVC_ACME_DIRECTORY, where that has its certificate from elsewhere.',
  },
  {
    name: 'SVC_VAULT_ROOT',
    required: false,
    default: '/var/lib/svc',
    meaning: 'Vault directory. Changing it does not move the old vault.',
  },
  {
    name: 'SVC_CHECKPOINT_PATH',
    required: false,
    default: '',
    meaning:
      'Directory outside the vault in which the hub keeps the newest checkpoint of the audit log, and what a restore must not forget; best on another machine.',
  },
  {
    name: 'SVC_BACKUP_DIR',
    required: false,
    default: '',
    meaning:
      'Directory into which the hub makes backups by itself; best on another disk. Not set: it makes none.',
  },
  {
    name: 'SVC_BACKUP_INTERVAL',
    required: false,
    default: '24h',
    meaning: 'How often the hub makes a backup; at least 1m.',
  },
  {
    name: 'SVC_BACKUP_KEEP',
    required: false,
    default: '7',
    meaning: 'How many of these backups stay, from 1 to 10000.',
  },
  {
    name: 'SVC_LOG_ARCHIVE_DIR',
    required: false,
    default: '',
    meaning:
      'Directory for the segments of the audit log that svc evento archive takes out of the vault; best on another disk.',
  },
  {
    name: 'SVC_DATABASE_URL',
    required: false,
    default: '',
    meaning:
      'URL of a PostgreSQL for several hubs, such as `postgresql://svc@db1,db2/cartorio?sslmode=verify-full`. `svc-server --check` tries it; a hub does not use it yet.',
    isSecret: true,
  },
  {
    name: 'SVC_DATABASE_REPLICATION',
    required: false,
    default: 'standby',
    meaning:
      '`standby`: a database without a synchronous standby is warned of; `engine`: it keeps copies in a way of its own, as Aurora, CockroachDB and YugabyteDB do.',
  },
  {
    name: 'SVC_STANDBY_BIND',
    required: false,
    default: '',
    meaning:
      'Bind address at which this hub takes the connection of its standby, another machine that keeps a copy of the vault, such as `0.0.0.0:8447`. Not set: there is none.',
  },
  {
    name: 'SVC_STANDBY',
    required: false,
    default: 'required',
    meaning:
      '`required`: the hub acknowledges no write that the standby does not have; `preferred`: it goes on alone while the standby is away.',
  },
  {
    name: 'SVC_STANDBY_OF',
    required: false,
    default: '',
    meaning:
      'https URL of the hub whose standby this machine is, such as `https://hub1:8447`; `svc-server --standby URL` is the same. Once the machine was promoted, it tells the hub there, when that one comes back, that it was replaced.',
  },
  {
    name: 'SVC_LOG_KEEP',
    required: false,
    default: '',
    meaning:
      'The hub archives older entries of the audit log by itself; at least 30d, such as 180d. Not set: it archives nothing.',
  },
  {
    name: 'SVC_SERVER_CN',
    required: false,
    default: 'svc-server.local',
    meaning: 'CN of the hub’s own TLS certificate; in production the public domain name.',
  },
  {
    name: 'SVC_SERVER_SANS',
    required: false,
    default: '',
    meaning: 'More names of the hub’s certificate, DNS names or IP addresses, separated by commas.',
  },
  {
    name: 'SVC_HEALTH_BIND',
    required: false,
    default: '0.0.0.0:8080',
    meaning: 'Bind address of the health endpoint (plain HTTP).',
  },
  {
    name: 'SVC_ENROLL_BIND',
    required: false,
    default: '0.0.0.0:8444',
    meaning: 'Bind address of the enroll endpoint (plain HTTP, for a proxy that ends TLS).',
  },
  {
    name: 'SVC_ENROLL_TLS_BIND',
    required: false,
    default: '0.0.0.0:8446',
    meaning:
      'Bind address of the enroll endpoint over TLS, with the hub’s own certificate; empty or `off` turns it off.',
  },
  {
    name: 'SVC_PUBLIC_URL',
    required: false,
    default: 'https, SVC_SERVER_CN and the port of SVC_ENROLL_TLS_BIND',
    meaning:
      'The https URL by which hosts reach the enroll endpoint; `svc token create` prints it.',
  },
  {
    name: 'SVC_MTLS_BIND',
    required: false,
    default: '0.0.0.0:8443',
    meaning: 'Bind address of the mutual-TLS endpoint.',
  },
  {
    name: 'SVC_ADMIN_BIND',
    required: false,
    default: '127.0.0.1:8445',
    meaning: 'Bind address of the admin port (HTTPS, for admin tokens); `off` turns it off.',
  },
  {
    name: 'SVC_CONSOLE',
    required: false,
    default: 'on',
    meaning: 'The console, below `/console/` on the admin port; `off` turns it off.',
  },
  {
    name: 'SVC_METRICS_BIND',
    required: false,
    default: '127.0.0.1:9464',
    meaning:
      'Bind address of `/metrics`, `/livez` and `/readyz` (plain HTTP, open to everybody who reaches it); `off` turns them off.',
  },
  {
    name: 'SVC_METRICS_CERTIFICATES',
    required: false,
    default: '0',
    meaning:
      'How many certificates get a series of their own in the metrics, the first to end first; at most 100000.',
  },
  {
    name: 'SVC_RENEWAL_THRESHOLD',
    required: false,
    default: '6h',
    meaning:
      'The SVC_AGENT_RENEWAL_THRESHOLD of the agents; from it the hub knows which certificates are late.',
  },
  {
    name: 'SVC_IDENTITY_MATCH',
    required: false,
    default: 'identity',
    meaning:
      '`identity`: the hub accepts only a client certificate that it obtained for the agent; `cn`: any certificate of the CA with the agent’s CN.',
  },
  {
    name: 'SVC_RECOVERY_GRACE',
    required: false,
    default: '7d',
    meaning:
      'How long after its expiry an agent can recover its identity; `0s` turns recovery off.',
  },
  {
    name: 'SVC_TRUSTED_PROXIES',
    required: false,
    default: '',
    meaning:
      'Addresses or CIDR ranges, separated by commas, whose `X-Forwarded-For` the hub believes.',
  },
  {
    name: 'SVC_BLOB_MAX',
    required: false,
    default: '1048576',
    meaning: 'Bytes that a sealed file may hold, at most 8388608.',
  },
  {
    name: 'SVC_WEBHOOK_CA_PATH',
    required: false,
    default: '',
    meaning:
      'Path of root certificates, PEM, that the hub accepts for receivers of webhooks, and for issuers of join rules, besides the system’s.',
  },
  {
    name: 'SVC_CONSOLE_URL',
    required: false,
    default: '',
    meaning:
      'HTTPS URL at which people reach the console, such as `https://hub.example.org:8445/console`; messages to Slack, Teams and by mail link to its pages.',
  },
  {
    name: 'SVC_SYSLOG_CERT_PATH',
    required: false,
    default: '',
    meaning:
      'Path of a certificate and its chain, PEM, that the hub shows to syslog receivers that ask for one; read again for each connection.',
  },
  {
    name: 'SVC_SYSLOG_KEY_PATH',
    required: false,
    default: '',
    meaning: 'Path of the private key of `SVC_SYSLOG_CERT_PATH`, PEM.',
  },
  {
    name: 'RUST_LOG',
    required: false,
    default: 'info',
    meaning: 'Log filter: `info`, `debug`, or `module=level,info`.',
  },
  {
    name: 'SVC_LOG_FORMAT',
    required: false,
    default: 'text on a terminal and in the journal, else json',
    meaning: '`text` or `json`.',
  },
  ...Object.values(HUB_LIMITS).map(({ variable, default: value, unit, meaning }) => ({
    name: variable,
    required: false,
    default: String(value),
    meaning: `${meaning} In ${unit}; 0 lifts the limit.`,
  })),
]
