// Faults that programs of this kind are known to have, put back in on purpose, without the product's help: a simulation
// that does not find these finds nothing.

// Before the product: what it takes from Node while it loads is the kernel's, or a seed gives another history each time.
import './intercept.ts'
import type {
  CertificateAuthority,
  RootedAuthority,
} from '../../../src/hub/ca/certificate-authority.ts'
import type { MemberParts } from '../../../src/hub/compose-services.ts'
import type { Store } from '../../../src/hub/store/store.ts'
import type { WebhookConnection } from '../../../src/hub/webhook/webhook-connection.ts'
import type { RunningHub } from '../simulated-hub.ts'
import type { RestoreOptions } from '../../../src/hub/backup/restore-vault.ts'
import { ARCHIVE_DIR } from './boot-hub.ts'
import {
  authenticatingOnce,
  consumingEarly,
  foreseeing,
  forgetting,
  forgettingNews,
  forgettingRequests,
  lackingAHash,
  leavingOutArchived,
  overwriting,
  remembering,
  takingPendingForDone,
  withoutTerms,
  withWriter,
} from './planted-faults.ts'
import type { SimulatedDisk } from './simulated-disk.ts'

export interface KnownBug {
  readonly name: string
  /** Tried first: the seed that found it last. Others are tried when the simulation has become another one. */
  readonly foundBy: number
  /** What the model says when it finds it. */
  readonly symptom: RegExp
  readonly inStore?: (store: Store) => Store
  readonly inHub?: (hub: RunningHub, authority: CertificateAuthority) => RunningHub
  readonly onHubDisk?: (disk: SimulatedDisk) => void
  readonly onDisk?: (disk: SimulatedDisk) => void
  readonly inAuthority?: (authority: RootedAuthority) => RootedAuthority
  readonly inRestore?: (options: RestoreOptions) => RestoreOptions
  /** A hub that holds its vault against nothing. */
  readonly startsBlindly?: true
  /** A hub that cuts off requests, and not streams. */
  readonly leavesStreams?: true
  readonly inConnection?: (connection: WebhookConnection) => WebhookConnection
  /** Of hubs that share a vault. */
  readonly inMember?: (parts: MemberParts, store: Store) => MemberParts
  /** A COMMIT without a reply is taken for one that failed. */
  readonly isBlindToCommits?: true
  readonly hubs?: 2
}

export const KNOWN_BUGS: readonly KnownBug[] = [
  {
    name: 'a token that is consumed before the CA answers',
    foundBy: 2,
    symptom: /ENR-12/,
    inHub: (hub, authority) => ({ ...hub, enrollAgent: consumingEarly(hub, authority) }),
  },
  {
    name: 'a directory that is not synced after the switch of an identity',
    foundBy: 11,
    symptom: /AGT-3[67]/,
    onDisk: (disk) => {
      disk.forgetsSyncOf = (path) => path.endsWith('/identity/.versions')
    },
  },
  {
    name: 'a key and a certificate that are overwritten one after the other',
    foundBy: 3,
    symptom: /AGT-36/,
    onDisk: (disk) => {
      disk.insteadOfRename = (from, to) => overwriting(disk, from, to)
    },
  },
  {
    name: 'a root that goes while agents need it',
    foundBy: 3,
    symptom: /TRU-10/,
    inHub: (hub) => ({
      ...hub,
      admin: {
        ...hub.admin,
        updateBundle: (request) => hub.admin.updateBundle({ ...request, force: true }),
      },
    }),
  },
  {
    name: 'a message of a webhook that is done before it is answered',
    foundBy: 6,
    symptom: /WHK-5/,
    inConnection: (connection) => ({
      ...connection,
      post: async (request) => {
        connection.post(request).catch(() => undefined)
        return { status: 204, retryAfter: undefined }
      },
    }),
  },
  {
    name: 'a revocation that is recorded before the CA has done it',
    foundBy: 1,
    symptom: /REV-7/,
    inAuthority: (authority) => ({
      get rootPem() {
        return authority.rootPem
      },
      useRoots: (pem) => authority.useRoots(pem),
      sign: (request) => authority.sign(request),
      revoke: async (serial, signal) => {
        authority.revoke(serial, signal).catch(() => undefined)
        return { kind: 'revoked' }
      },
    }),
  },
  {
    name: 'a sealed file whose content is not synced before the switch to it',
    foundBy: 6,
    symptom: /AGT-36.*sealed/,
    onDisk: (disk) => {
      disk.forgetsSyncOf = (path) => path.includes('/out/.files/') && path.endsWith('/content')
    },
  },
  {
    name: 'a sealed file that the hub hands out as it was before its update',
    foundBy: 4,
    // Or else the update that is meant to mend it never does.
    symptom: /sealed last|: selado \S+ is/,
    inHub: (hub) => ({ ...hub, findBlob: remembering(hub) }),
  },
  {
    name: 'a checkpoint that is shown before its last entry is committed',
    foundBy: 2,
    symptom: /CHN-24/,
    inHub: (hub) => ({ ...hub, auditLog: foreseeing(hub) }),
  },
  {
    name: 'a tree over records that lack a column',
    foundBy: 5,
    // A witness may find it first: the proofs are made of whole records.
    symptom: /CHN-(?:16|24)/,
    inStore: (store) => withWriter(store, forgettingRequests),
  },
  {
    name: 'a proof that the log has grown that lacks a hash',
    foundBy: 2,
    symptom: /CHN-24/,
    inHub: (hub) => ({ ...hub, auditLog: { ...hub.auditLog, prove: lackingAHash(hub) } }),
  },
  {
    name: 'a receipt that is written over the one before',
    foundBy: 2,
    symptom: /CHN-34/,
    onDisk: (disk) => {
      disk.writesOver = (path) => path.endsWith('/state/receipts.jsonl')
    },
  },
  {
    name: 'a wave that opens though hosts have yet to install the version',
    foundBy: 8,
    symptom: /RLO-7/,
    inStore: takingPendingForDone,
  },
  {
    name: 'a restore that forgets who was revoked',
    foundBy: 1,
    symptom: /BKP-19.*revoked/,
    inRestore: (options) => ({ ...options, replay: forgetting(options.replay, 'agent_revoked') }),
  },
  {
    name: 'a restore that leaves spent tokens open',
    foundBy: 1,
    symptom: /BKP-19.*spent/,
    inRestore: (options) => ({ ...options, replay: forgetting(options.replay, 'agent_enrolled') }),
  },
  {
    name: 'a restored log that goes on under its old name',
    foundBy: 3,
    symptom: /CHN-24/,
    inRestore: (options) => ({
      ...options,
      open: async (vault) =>
        withWriter(await options.open(vault), () => ({ putLogTree: async () => undefined })),
    }),
  },
  {
    name: 'a hub that starts with an old vault',
    foundBy: 3,
    symptom: /CHN-18/,
    startsBlindly: true,
  },
  {
    name: 'a segment of the log that is not synced',
    foundBy: 3,
    symptom: /ARC-[68]/,
    onHubDisk: (disk) => {
      disk.forgetsSyncOf = (path) => path.startsWith(ARCHIVE_DIR)
    },
  },
  {
    name: 'a reader of the log that does not look into its segments',
    foundBy: 2,
    symptom: /ARC-[68]/,
    inStore: (store) => ({ ...store, reader: leavingOutArchived(store.reader) }),
  },
  {
    name: 'a request to the CA that does not name its token',
    hubs: 2,
    foundBy: 3,
    symptom: /HUB-9/,
    inStore: (store) =>
      withWriter(store, (writer) => ({
        insertOpenSigning: (open) => writer.insertOpenSigning({ ...open, tokenHash: null }),
      })),
  },
  {
    name: 'a COMMIT without a reply that is tried again blindly',
    hubs: 2,
    foundBy: 1,
    symptom: /JRN-5/,
    isBlindToCommits: true,
  },
  {
    name: 'a lease that is believed in without its term',
    hubs: 2,
    foundBy: 11,
    symptom: /HUB-6/,
    inMember: (parts, store) => ({ ...parts, leases: withoutTerms(parts.leases, store) }),
  },
  {
    name: 'news of other hubs that nobody is told',
    hubs: 2,
    foundBy: 1,
    symptom: /HUB-7/,
    inMember: (parts) => ({ ...parts, onFollowed: () => undefined }),
  },
  {
    name: 'a stream that nobody looks at again once it is open',
    hubs: 2,
    foundBy: 2,
    symptom: /HUB-7.*the stream goes on/,
    leavesStreams: true,
    inHub: (hub) => ({ ...hub, holdStream: authenticatingOnce(hub) }),
  },
  {
    name: 'news of other hubs that reach no stream',
    hubs: 2,
    foundBy: 2,
    symptom: /HUB-7.*not told on the stream/,
    inMember: (parts) => ({ ...parts, onFollowed: forgettingNews(parts, 'agents') }),
  },
  {
    name: 'roots of another hub that are not taken over',
    hubs: 2,
    foundBy: 1,
    symptom: /TRU-10/,
    inMember: (parts) => ({ ...parts, onFollowed: forgettingNews(parts, 'areRootsChanged') }),
  },
  {
    name: 'a segment that is recorded though another hub has recorded these entries',
    hubs: 2,
    foundBy: 29,
    symptom: /ARC-6.*rule of the tables/,
    inStore: (store) => withWriter(store, () => ({ findLastSegment: async () => undefined })),
  },
]
