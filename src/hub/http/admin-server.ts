// The admin operations on a Unix socket in the vault directory. A caller that can open the socket may do everything: its mode
// lets in the vault's owner and root only.

import { rm } from 'node:fs/promises'
import { describeError } from '../../platform/errors.ts'
import type { Logging } from '../../platform/logger.ts'
import { BACKUP_ROUTE } from '../../protocol/admin/backup-route.ts'
import { LEAST_BODY_ROOM } from '../../protocol/admin/body-room.ts'
import { CHANGES_ROUTE } from '../../protocol/admin/changes-route.ts'
import { ADMIN_OPERATIONS } from '../../protocol/admin/operations.ts'
import { DEFAULT_HUB_LIMITS } from '../../protocol/hub-limits.ts'
import type { BackupMaker } from '../backup/make-backup.ts'
import type { PerformOperation } from '../service/admin/admin-context.ts'
import { ADMIN_HEADERS, addAdminRoutes, describeRefusal } from './admin-routes.ts'
import { bindPrivately } from './bind-privately.ts'
import { addBackupRoute } from './backup-route.ts'
import { addChangesRoute } from './changes-route.ts'
import { type ChangeStreams, endingStreams } from './change-streams.ts'
import { createHttpPort } from './http-port.ts'

export interface AdminServerOptions {
  readonly socketPath: string
  readonly performOperation: PerformOperation
  readonly backups: BackupMaker
  readonly changes: ChangeStreams
  /** Where it fails, the owner is shown what this hub knows. */
  readonly catchUp?: (() => Promise<void>) | undefined
  readonly logging: Logging
}

export interface AdminServer {
  /** Finishes what is under way, and no connection is kept; then the socket is gone. */
  close(): Promise<void>
}

/** The limits of the public ports are for strangers, and operators set them for strangers. */
const LIMITS = {
  ...DEFAULT_HUB_LIMITS,
  bodyBytes: LEAST_BODY_ROOM.bytesMax,
  connections: 128,
}
const CLOSE_TIMEOUT_MS = 10_000

/** Only for the holder of `vault.lock`: a socket that is there already is a dead hub's, and is replaced. */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const { socketPath, performOperation, backups, changes, logging, catchUp } = options
  const log = logging.forModule('hub.admin')
  const port = createHttpPort({
    port: 'admin',
    routes: [...Object.values(ADMIN_OPERATIONS), BACKUP_ROUTE, CHANGES_ROUTE],
    log,
    limits: LIMITS,
    isTrustedProxy: () => false,
    catchUp: catchUp && (() => catchUp().catch(() => undefined)),
    headers: ADMIN_HEADERS,
    bodyOf: describeRefusal,
  })
  addAdminRoutes(port, {
    log,
    performOperation,
    credentialsOf: () => ({ actor: 'admin', role: 'admin', credential: '' }),
  })
  addBackupRoute(port, backups, log)
  addChangesRoute(port, {
    streams: changes,
    callerOf: () => ({
      address: undefined,
      holder: 'admin',
      authenticate: async () => ({ only: null }),
    }),
  })
  await port.app.ready()
  const { server } = port.app
  await bindPrivately(server, socketPath)
  server.on('error', (error) => log.error({ reason: describeError(error) }, 'Admin socket failed'))
  return {
    close: async () => {
      await rm(socketPath, { force: true })
      await endingStreams(changes, port.close(CLOSE_TIMEOUT_MS))
    },
  }
}
