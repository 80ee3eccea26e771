// Faults that programs of this kind are known to have, put back in on purpose, without the product's help: a simulation
// that does not find these finds nothing.

// Before the product: what it takes from Node while it loads is the kernel's, or a seed gives another history each time.
import './intercept.ts'
import type {
  CertificateAuthority,
  RootedAuthority,
} from '../../../src/hub/ca/certificate-authority.ts'
import type { MemberParts } from '../../../src/hub/compose-services.ts'
import { createEnrollAgent, type EnrollAgent } from '../../../src/hub/service/agent/enroll-agent.ts'
import type { FindBlob } from '../../../src/hub/service/agent/find-blob.ts'
import { formatRecord, parseRecord } from '../../../src/audit/record.ts'
import type { LogTree } from '../../../src/hub/domain/log-tree.ts'
import { showLog } from '../../../src/hub/service/agent/show-log.ts'
import { growLogTree } from '../../../src/hub/service/log-tree.ts'
import { hashToken } from '../../../src/hub/domain/hash-token.ts'
import type { Leases } from '../../../src/hub/store/leases.ts'
import type { Store, StoreReader, StoreWriter } from '../../../src/hub/store/store.ts'
import type { WebhookConnection } from '../../../src/hub/webhook/webhook-connection.ts'
import { createLogging } from '../../../src/platform/logger.ts'
import type { TokenHash } from '../../../src/protocol/identifiers.ts'
import { HUB_NAME, type RunningHub } from '../simulated-hub.ts'
import type { RestoreOptions } from '../../../src/hub/backup/restore-vault.ts'
import { ARCHIVE_DIR } from './boot-hub.ts'
import { fileAt, findIfPresent } from './disk-calls.ts'
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
    foundBy: 3,
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
    foundBy: 2,
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
    name: 'a restore that forgets who was revoked',
    foundBy: 6,
    symptom: /BKP-19.*revoked/,
    inRestore: (options) => ({ ...options, replay: forgetting(options.replay, 'agent_revoked') }),
  },
  {
    name: 'a restore that leaves spent tokens open',
    foundBy: 3,
    symptom: /BKP-19.*spent/,
    inRestore: (options) => ({ ...options, replay: forgetting(options.replay, 'agent_enrolled') }),
  },
  {
    name: 'a restored log that goes on under its old name',
    foundBy: 1,
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
    foundBy: 6,
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
    foundBy: 20,
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
]

/** Whoever had the lease when it began to write goes on. */
function withoutTerms(leases: Leases, store: Store): Leases {
  return {
    storeFor: (name) => {
      const held = leases.storeFor(name)
      return Object.assign(Object.create(held) as Store, {
        write: (work: Parameters<Store['write']>[0]) =>
          leases.has(name) ? store.write(work) : held.write(work),
      })
    },
    whileHeld: (name, work, signal) => leases.whileHeld(name, work, signal),
    during: (name, work) => leases.during(name, work),
    has: (name) => leases.has(name),
  }
}

/** Acts of that type are not done again. */
function forgetting(replay: RestoreOptions['replay'], forgotten: string): RestoreOptions['replay'] {
  return (writer, acts, now) =>
    replay(
      writer,
      acts.filter(({ type }) => type !== forgotten),
      now,
    )
}

function leavingOutArchived(reader: StoreReader): StoreReader {
  const listRecords: StoreReader['listRecords'] = async (after, limit) => {
    const until = (await reader.findLastSegment())?.last ?? 0
    return reader.listRecords(Math.max(after, until), limit)
  }
  return Object.assign(Object.create(reader) as StoreReader, { listRecords })
}

/** The log with one entry more than it has, which will be another one. */
function foreseeing({ store, auditLog }: RunningHub): RunningHub['auditLog'] {
  let shown: LogTree | undefined
  const foreseen = showLog(store.reader, () => shown)
  const foresee = async (): Promise<void> => {
    const tree = await store.reader.findLogTree()
    shown = tree && growLogTree(tree, ['what is under way']).tree
  }
  return {
    header: () => {
      void foresee()
      return shown === undefined ? auditLog.header() : foreseen.header()
    },
    describe: () => (shown === undefined ? auditLog.describe() : foreseen.describe()),
    prove: (from, to) => auditLog.prove(from, to),
  }
}

function lackingAHash({ auditLog }: RunningHub): RunningHub['auditLog']['prove'] {
  return async (from, to) => {
    const reply = await auditLog.prove(from, to)
    return reply && { proof: reply.proof.slice(1) }
  }
}

/** The records that its tree is made of. */
function forgettingRequests(writer: StoreWriter): Partial<StoreWriter> {
  return {
    listRecords: async (after, limit) =>
      (await writer.listRecords(after, limit)).map((record) => {
        const entry = parseRecord(record)
        return entry === undefined ? record : formatRecord({ ...entry, requestId: null })
      }),
  }
}

/** What it has found once it hands out from then on, also after a change. */
function remembering({ findBlob }: RunningHub): FindBlob {
  const known = new Map<string, Awaited<ReturnType<FindBlob>>>()
  return async (agent, cargoId) => {
    const blob = await findBlob(agent, cargoId)
    const content = await blob?.read()
    if (blob === undefined || content === undefined) return blob
    const remembered = known.get(cargoId) ?? { ...blob, read: async () => content }
    known.set(cargoId, remembered)
    return remembered
  }
}

/** Enrols as the hub does, but for the order of two steps. */
function consumingEarly(
  { store, clock }: RunningHub,
  authority: CertificateAuthority,
): EnrollAgent {
  const tokens = new Map<string, TokenHash>()
  const consumed = new Set<TokenHash>()
  const early: CertificateAuthority = {
    // Asked each time: the root may have been replaced.
    get rootPem() {
      return authority.rootPem
    },
    revoke: (serial, signal) => authority.revoke(serial, signal),
    sign: async (request) => {
      const hash = tokens.get(request.commonName)
      if (hash !== undefined) {
        await store.write(async (writer) => {
          const token = await writer.findToken(hash)
          if (token?.consumedAt !== null) return
          await writer.updateToken({ ...token, consumedAt: clock.now() })
        })
        consumed.add(hash)
      }
      return authority.sign(request)
    },
  }
  const enroll = createEnrollAgent({
    store: forgivingStore(store, consumed),
    authority: early,
    clock,
    log: createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('hub'),
    hubNames: [HUB_NAME],
  })
  return (request, key) => {
    tokens.set(request.hostname, hashToken(request.token))
    return enroll(request, key)
  }
}

/** The commit at the end finds the token as if nobody had touched it. */
function forgivingStore(store: Store, consumed: ReadonlySet<TokenHash>): Store {
  return withWriter(store, (writer) => ({
    findToken: async (hash) => {
      const token = await writer.findToken(hash)
      return token && consumed.has(hash) ? { ...token, consumedAt: null } : token
    },
  }))
}

function withWriter(store: Store, change: (writer: StoreWriter) => Partial<StoreWriter>): Store {
  const changed = (writer: StoreWriter): StoreWriter => {
    const others = change(writer)
    return new Proxy(writer, {
      get: (target, name) => {
        const other: unknown = Reflect.get(others, name)
        if (other !== undefined) return other
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
  return {
    reader: store.reader,
    get version() {
      return store.version
    },
    versionOf: (id) => store.versionOf(id),
    write: (work, company) =>
      store.write((writer) => work(changed(writer)), company?.lease && company),
    close: () => store.close(),
  }
}

/** In the place of one rename that switches all files, each file by itself. */
function overwriting(
  disk: SimulatedDisk,
  from: string,
  to: string,
): readonly (() => void)[] | undefined {
  if (!to.endsWith('/current') || findIfPresent(disk, to) === undefined) return undefined
  const source = disk.find(from, { followsLast: true })
  if (source.kind !== 'directory') return undefined
  const steps = [...source.entries.keys()].map((name) => () => {
    const path = `${to}/${name}`
    disk.write(path, fileAt(disk, path), fileAt(disk, `${from}/${name}`).content)
  })
  return [...steps, () => disk.remove(from)]
}
