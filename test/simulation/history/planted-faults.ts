// What stands in for a part of the product, with a fault in it: known-bugs.ts says which.

// Before the product: what it takes from Node while it loads is the kernel's, or a seed gives another history each time.
import { NO_ISSUERS } from '../../fakes/issuer-keys.ts'
import './intercept.ts'
import type { CertificateAuthority } from '../../../src/hub/ca/certificate-authority.ts'
import type { MemberParts } from '../../../src/hub/compose-services.ts'
import { createEnrollAgent, type EnrollAgent } from '../../../src/hub/service/agent/enroll-agent.ts'
import type { FindBlob } from '../../../src/hub/service/agent/find-blob.ts'
import { formatRecord, parseRecord } from '../../../src/audit/record.ts'
import type { LogTree } from '../../../src/hub/domain/log-tree.ts'
import { showLog } from '../../../src/hub/service/agent/show-log.ts'
import { growLogTree } from '../../../src/hub/service/log-tree.ts'
import { hashToken } from '../../../src/hub/domain/hash-token.ts'
import type { Leases } from '../../../src/hub/store/leases.ts'
import type { RolloutReader } from '../../../src/hub/store/rollout-store.ts'
import type { News, Store, StoreReader, StoreWriter } from '../../../src/hub/store/store.ts'
import { createLogging } from '../../../src/platform/logger.ts'
import type { TokenHash } from '../../../src/protocol/identifiers.ts'
import { HUB_NAME, type RunningHub } from '../simulated-hub.ts'
import type { RestoreOptions } from '../../../src/hub/backup/restore-vault.ts'
import { fileAt, findIfPresent } from './disk-calls.ts'
import type { SimulatedDisk } from './simulated-disk.ts'

/** What other hubs did, without one of the things that they say of it. */
export function forgettingNews(
  { onFollowed }: MemberParts,
  forgotten: keyof News,
): MemberParts['onFollowed'] {
  return (listener) =>
    onFollowed((news) => listener(news.map((each) => ({ ...each, [forgotten]: undefined }))))
}

export function authenticatingOnce({ streams }: RunningHub): RunningHub['holdStream'] {
  return ({ agent, connection, lastEventId }) =>
    streams.hold({
      agentId: agent.id,
      agent,
      connection,
      lastEventId,
      authenticate: async () => agent,
    })
}

/** Whoever had the lease when it began to write goes on. */
export function withoutTerms(leases: Leases, store: Store): Leases {
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
export function forgetting(
  replay: RestoreOptions['replay'],
  forgotten: string,
): RestoreOptions['replay'] {
  return (writer, acts, now) =>
    replay(
      writer,
      acts.filter(({ type }) => type !== forgotten),
      now,
    )
}

export function leavingOutArchived(reader: StoreReader): StoreReader {
  const listRecords: StoreReader['listRecords'] = async (after, limit) => {
    const until = (await reader.findLastSegment())?.last ?? 0
    return reader.listRecords(Math.max(after, until), limit)
  }
  return Object.assign(Object.create(reader) as StoreReader, { listRecords })
}

/** The log with one entry more than it has, which will be another one. */
export function foreseeing({ store, auditLog }: RunningHub): RunningHub['auditLog'] {
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

export function lackingAHash({ auditLog }: RunningHub): RunningHub['auditLog']['prove'] {
  return async (from, to) => {
    const reply = await auditLog.prove(from, to)
    return reply && { proof: reply.proof.slice(1) }
  }
}

/** The records that its tree is made of. */
export function forgettingRequests(writer: StoreWriter): Partial<StoreWriter> {
  return {
    listRecords: async (after, limit) =>
      (await writer.listRecords(after, limit)).map((record) => {
        const entry = parseRecord(record)
        return entry === undefined ? record : formatRecord({ ...entry, requestId: null })
      }),
  }
}

/** What a rollout sees of its hosts, but for that. */
export function takingPendingForDone(store: Store): Store {
  const changing = <Rollouts extends RolloutReader>(rollouts: Rollouts): Rollouts => {
    const countWaves: RolloutReader['countWaves'] = async (id, silentSince) => {
      const waves = await rollouts.countWaves(id, silentSince)
      return waves.map((wave) => ({ ...wave, pending: 0, done: wave.done + wave.pending }))
    }
    return new Proxy(rollouts, {
      get: (target, name) => {
        if (name === 'countWaves') return countWaves
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
  const { reader } = store
  const changed = Object.create(reader) as StoreReader
  Object.defineProperty(changed, 'rollouts', { get: () => changing(reader.rollouts) })
  const written = withWriter(store, (writer) => ({ rollouts: changing(writer.rollouts) }))
  return Object.defineProperty(written, 'reader', { value: changed })
}

/** What it has found once it hands out from then on, also after a change. */
export function remembering({ findBlob }: RunningHub): FindBlob {
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
export function consumingEarly(
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
    keys: NO_ISSUERS,
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

export function withWriter(
  store: Store,
  change: (writer: StoreWriter) => Partial<StoreWriter>,
): Store {
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
export function overwriting(
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
