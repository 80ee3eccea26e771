// The hub's environment. The table is the reference: parser, `--help` and docs/reference/environment.md follow it.

import { HUB_LIMITS } from '../protocol/hub-limits.ts'
import { OPENID_VARIABLES } from './openid-variables.ts'
import { CA_VARIABLES, type CaKind, type HubVariable } from './ca-variables.ts'

/** Whether a hub whose CAs are of these kinds reads it. */
export function isReadBy({ kind }: Pick<HubVariable, 'kind'>, kinds: ReadonlySet<CaKind>): boolean {
  return kind === undefined || kinds.has(kind)
}

export const HUB_VARIABLES: readonly HubVariable[] = [
  {
    name: 'SVC_MASTER_PASSPHRASE',
    required: true,
    default: '',
    meaning: 'Master vault passphrase.',
    isSecret: true,
  },
  ...CA_VARIABLES,
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
    meaning: 'HTTPS URL by which hosts reach the enroll endpoint; `svc token create` prints it.',
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
    name: 'SVC_CONSOLE_CONFIRM',
    required: false,
    default: 'off',
    meaning:
      '`passkey`: in the console a passkey (WebAuthn) confirms revocations and changes of roots, politicas and admin tokens; needs `SVC_CONSOLE_URL`. `off`: nothing is confirmed.',
  },
  {
    name: 'SVC_CONSOLE_SEALING',
    required: false,
    default: 'off',
    meaning:
      'Whether the console of the hub seals secrets in the browser; `on` permits it. A person who controls the hub could then read what is typed there, which `svc console` excludes.',
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
    meaning: 'How long after expiry an agent can recover its identity; `0s` turns recovery off.',
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
      'HTTPS URL of the console, to which messages in Slack, Teams and mail link, and an OpenID provider sends people back; such as `https://hub.example.org:8445/console`.',
  },
  ...OPENID_VARIABLES,
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
