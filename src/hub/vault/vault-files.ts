import { join } from 'node:path'

/** Where everything is in a vault directory. */
export interface VaultFiles {
  readonly config: string
  /** Another config.json in the making. */
  readonly nextConfig: string
  /** Of a vault that was made again in another directory, under another key. */
  readonly rekeyedConfig: string
  /** The live database. */
  readonly database: string
  readonly lock: string
  /** The authenticated head of the audit log. */
  readonly auditHead: string
  readonly adminSocket: string
  /** What the vault is of two machines. */
  readonly standby: string
  readonly standbySocket: string
  readonly serverCertificate: string
  readonly serverKey: string
  readonly caCertificate: string
  /** A vault in the making; gone, or empty, once there is a vault. */
  readonly staging: string
  readonly stagedConfig: string
  readonly stagedDatabase: string
  readonly stagedAuditHead: string
}

export function vaultFiles(root: string): VaultFiles {
  const staging = join(root, '.init')
  return {
    config: join(root, 'config.json'),
    nextConfig: join(root, 'config.json.new'),
    rekeyedConfig: join(root, 'config.json.rekeyed'),
    database: join(root, 'db.enc'),
    lock: join(root, 'vault.lock'),
    auditHead: join(root, 'audit.head'),
    adminSocket: join(root, 'admin.sock'),
    standby: join(root, 'standby.json'),
    standbySocket: join(root, 'standby.sock'),
    serverCertificate: join(root, 'server.crt'),
    serverKey: join(root, 'server.key'),
    caCertificate: join(root, 'ca.crt'),
    staging,
    stagedConfig: join(staging, 'config.json'),
    stagedDatabase: join(staging, 'db.enc'),
    stagedAuditHead: join(staging, 'audit.head'),
  }
}
