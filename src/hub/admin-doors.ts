// The two doors to the admin operations: the Unix socket of the vault's owner, and the admin port for tokens.

import { NOT_BUILT } from '../console-files/console-files.ts'
import { openConsole } from '../console-files/open-console.ts'
import type { BindAddress } from '../platform/bind-address.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logging } from '../platform/logger.ts'
import { readVersion } from '../platform/version.ts'
import type { BackupMaker } from './backup/make-backup.ts'
import type { HubConfig } from './config.ts'
import { holderOf } from './domain/access-token.ts'
import type { ChangeBell } from './http/change-bell.ts'
import { createChangeStreams } from './http/change-streams.ts'
import { createConfirmationGuard } from './http/confirmation-guard.ts'
import { startAdminServer } from './http/admin-server.ts'
import { createAdminPort } from './http/admin-port.ts'
import { createOperatorDoor } from './http/operator-door.ts'
import { listenWhereWanted } from './listen.ts'
import type { HubMeters } from './metrics/hub-meters.ts'
import type { AdminHub } from './service/admin/admin-context.ts'
import { createAuthenticateOperator } from './service/admin/authenticate-operator.ts'
import type { LeakedTokens } from './service/agent/end-leaked-token.ts'
import type { OpenidSignIn } from './service/admin/openid/openid-sign-in.ts'
import { createPerformOperation } from './service/admin/perform-operation.ts'
import { createVerifyConfirmation } from './service/admin/passkeys/verify-confirmation.ts'
import { createAuthenticateSession } from './service/admin/sessions/authenticate-session.ts'
import { createStartSession, findStarterByCode } from './service/admin/sessions/start-session.ts'
import { createReadDoorbells } from './service/admin/read-doorbells.ts'
import { createRefusalRecorder } from './service/admin/record-refusals.ts'
import type { ServerCertificate } from './service/upkeep/server-certificate.ts'

export interface AdminDoorsDependencies {
  readonly config: Pick<
    HubConfig,
    'adminBind' | 'isConsoleServed' | 'isConsoleSealing' | 'limits' | 'isTrustedProxy'
  >
  readonly socketPath: string
  readonly clock: Clock
  readonly logging: Logging
  readonly certificate: ServerCertificate
  readonly meters: Pick<HubMeters, 'onAnswer' | 'onRefusal' | 'onHandshakeFailure'> | undefined
  readonly operations: AdminHub
  readonly backups: BackupMaker
  readonly bell: ChangeBell
  readonly leakedTokens: LeakedTokens
  readonly catchUp?: (() => Promise<void>) | undefined
  /** Undefined where people sign in by no OpenID provider. */
  readonly openid?: OpenidSignIn | undefined
}

export interface AdminDoors {
  /** Undefined when the port is off. */
  readonly bound: BindAddress | undefined
  replaceCertificate(certificate: ServerCertificate): void
  /** Of the port. */
  countConnections(): Promise<number>
  close(graceMs: number): Promise<void>
}

/** What was opened is closed again when a later step fails. */
export async function openAdminDoors(dependencies: AdminDoorsDependencies): Promise<AdminDoors> {
  const { config, clock, logging, operations } = dependencies
  const { store } = operations
  const log = logging.forModule('hub.admin')
  const performOperation = createPerformOperation(operations)
  const refusals = createRefusalRecorder(store, clock, log)
  const { socketPath, backups, catchUp, bell } = dependencies
  const doorbells = createReadDoorbells(store.reader)
  const changes = createChangeStreams({ clock, log, bell, doorbells })
  const socket = await startAdminServer({
    socketPath,
    performOperation,
    backups,
    changes,
    logging,
    catchUp,
  })
  const { confirmations } = operations
  const guard =
    confirmations &&
    createConfirmationGuard({
      clock,
      reader: store.reader,
      verify: createVerifyConfirmation(store, clock, confirmations),
    })
  const port =
    config.adminBind &&
    createAdminPort({
      log,
      clock,
      refusals,
      changes,
      guard,
      performOperation,
      version: readVersion(),
      limits: config.limits,
      isTrustedProxy: config.isTrustedProxy,
      certificate: dependencies.certificate,
      onAnswer: dependencies.meters?.onAnswer,
      onRefusal: dependencies.meters?.onRefusal,
      leakedTokens: dependencies.leakedTokens,
      catchUp,
      onHandshakeFailure: dependencies.meters?.onHandshakeFailure,
      consoleFiles: config.isConsoleServed ? (openConsole() ?? NOT_BUILT) : undefined,
      isConsoleSealing: config.isConsoleSealing,
      startSession: createStartSession(store, clock),
      holderOf,
      openid: dependencies.openid,
      door: createOperatorDoor({
        authenticateOperator: createAuthenticateOperator(store, clock, log),
        authenticateSession: createAuthenticateSession(store, clock, log),
        findByCode: (code) => findStarterByCode(store.reader, code, clock.now()),
      }),
    })
  const background = new AbortController()
  const recording = refusals.run(background.signal)
  const beating = changes.run(background.signal)
  const close = async (graceMs: number): Promise<void> => {
    await Promise.all([socket.close(), port?.close(graceMs)])
    background.abort()
    await Promise.all([recording, beating])
  }
  try {
    const bound = await listenWhereWanted(port, config.adminBind, 'SVC_ADMIN_BIND')
    return {
      bound,
      replaceCertificate: (renewed) => port?.replaceCertificate(renewed),
      countConnections: async () => (await port?.countConnections()) ?? 0,
      close,
    }
  } catch (error) {
    await close(0)
    throw error
  }
}
