// The hubs of a history, each between the models that it is held against.

import type { Logging } from '../../../src/platform/logger.ts'
import type { AuditHead } from '../../../src/hub/vault/audit-head.ts'
import type { UnsealedVault } from '../../../src/hub/vault/vault.ts'
import type { SimulatedCa } from '../simulated-authority.ts'
import type { ContractModel } from './contract-model.ts'
import { CrashingHub } from './crashing-hub.ts'
import type { Faults } from './faults.ts'
import type { Kernel } from './kernel.ts'
import type { KnownBug } from './known-bugs.ts'
import { connectReceiver } from './receivers.ts'
import type { RevocationModel } from './revocation-model.ts'
import type { RolloutModel } from './rollout-model.ts'
import type { Sharing } from './sharing.ts'
import { checkWholeHub, followWhileAlive, watchHub } from './watch-hub.ts'
import type { ReceivedMessage, WebhookModel } from './webhook-model.ts'

export interface HubsOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly ca: SimulatedCa
  readonly readRootFile: () => string
  readonly model: ContractModel
  readonly webhooks: WebhookModel
  readonly revocations: RevocationModel
  readonly rollouts: RolloutModel
  /** Undefined for one that has its vault to itself. */
  readonly sharing: Sharing | undefined
  readonly vault: UnsealedVault
  readonly logEnd: AuditHead
  readonly directory: string
  readonly hasOutside: boolean
  readonly archive: { readonly keepMs: number | undefined } | undefined
  readonly bug: KnownBug | undefined
  readonly logging: Logging
  /** The model has read the log of a hub that has started. */
  readonly onRead: () => void
  readonly note: (text: string) => void
}

/** The first one is the only one, unless they share their vault. */
export function createHubs(options: HubsOptions): readonly CrashingHub[] {
  const { sharing, bug } = options
  const hubs = (sharing?.names ?? ['hub']).map((name) => createHub(name, options))
  for (const each of hubs) bug?.onHubDisk?.(each.disk)
  return hubs
}

function createHub(name: string, options: HubsOptions): CrashingHub {
  const { kernel, faults, model, webhooks, revocations, sharing, bug, onRead } = options
  return new CrashingHub({
    ...options,
    name,
    database: sharing?.database,
    archiveDisk: sharing?.archiveDisk,
    connectReceiver: (url, program, store) => {
      const onMessage = async (message: ReceivedMessage): Promise<void> => {
        await followWhileAlive(store, program, model)
        const isLate = sharing?.isLate(program, webhooks.lastEndMs) === true
        kernel.look(() => webhooks.noteMessage(message, isLate))
      }
      const connection = connectReceiver({ kernel, faults, onMessage }, program, url)
      return bug?.inConnection?.(connection) ?? connection
    },
    surroundAuthority: (authority, program) => {
      const surrounded = bug?.inAuthority?.(authority) ?? authority
      return sharing?.claims.watch(surrounded, program) ?? surrounded
    },
    surroundMember: (parts, store) => bug?.inMember?.(parts, store) ?? parts,
    onCut: (agentId, program) => sharing?.news.noteCut(agentId, program),
    onRevoke: async (serial, program, store) => {
      await followWhileAlive(store, program, model)
      kernel.look(() => revocations.checkAsked(serial))
    },
    startsBlindly: bug?.startsBlindly ?? false,
    leavesStreams: bug?.leavesStreams ?? false,
    surroundStore: (store) => {
      const watched = options.rollouts.watch(store)
      return bug?.inStore?.(watched) ?? watched
    },
    surround: (running, program, itsAuthority) =>
      watchHub(bug?.inHub?.(running, itsAuthority) ?? running, program, model, sharing?.claims),
    onStart: async (running, program) => {
      if (sharing === undefined) await checkWholeHub(running, model)
      // Others go on meanwhile.
      else await model.follow(running.store.reader)
      sharing?.news.noteStart(program)
      kernel.look(onRead)
      return model.entryCount
    },
  })
}
