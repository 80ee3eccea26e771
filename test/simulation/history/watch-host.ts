// What everybody can see on a host's disk, looked at after every change: a key and its certificate match or neither is
// there, a key is nobody else's, and an event that was made durable is promised to the hub.

import type { Certificate } from '../../../src/pki/certificates.ts'
import { parseCertificatesPem } from '../../../src/pki/certificates.ts'
import { parsePrivateKeyPem } from '../../../src/pki/keys.ts'
import type { EventRequestBody } from '../../../src/protocol/schemas.ts'
import type { ContractModel } from './contract-model.ts'
import { demand } from './demand.ts'
import { type CrashingHost, DATA_DIR } from './crashing-host.ts'
import { fileAt, findIfPresent, readIfPresent } from './disk-calls.ts'
import { SEALED_NAMES, type SealedFiles } from './sealed-files.ts'
import type { SimulatedDisk } from './simulated-disk.ts'

export interface PromisedEvent {
  readonly requestId: string
  readonly deliveryId: string | undefined
  /** Of what this host promised. */
  readonly order: number
}

export interface HostWatchOptions {
  readonly model: ContractModel
  readonly sealed: SealedFiles
  readonly fail: (error: unknown) => void
}

const IDENTITY_DIR = `${DATA_DIR}/identity`
const OUT_DIR = `${DATA_DIR}/out`
const OUTBOX_DIR = `${DATA_DIR}/state/outbox`
const EVENT_FILE = /^\d{12}-(?<requestId>[0-9a-f-]{36})\.json$/
const PRIVATE_MODE = 0o600

export class HostWatch {
  /** By `request_id`. */
  readonly promised = new Map<string, PromisedEvent>()
  /** Whoever wrote these was told that it failed; the file is there all the same, and may be sent or not. */
  readonly #notPromised = new Set<string>()
  #promises = 0
  /** How many it had promised when it was built. */
  #builtAt = 0
  readonly #host: CrashingHost
  readonly #model: ContractModel
  readonly #sealed: SealedFiles
  /** Pairs that were found to match; a file that is the same again needs no second look. */
  readonly #seen = new WeakSet<Buffer>()
  readonly #matches = new WeakMap<Buffer, Buffer>()

  constructor(host: CrashingHost, { model, sealed, fail }: HostWatchOptions) {
    this.#host = host
    this.#model = model
    this.#sealed = sealed
    const guarded =
      (look: (path: string) => void) =>
      (path: string): void => {
        try {
          look(path)
        } catch (error) {
          fail(error)
        }
      }
    host.disk.onChange = guarded((path) => this.#lookAtPairs(path))
    host.disk.onDirectorySync = guarded((path) => {
      if (path === OUTBOX_DIR) this.#notePromises()
    })
    host.disk.onFailedSync = guarded((path) => {
      if (path !== OUTBOX_DIR) return
      for (const { requestId } of this.#listWaiting()) {
        if (!this.promised.has(requestId)) this.#notPromised.add(requestId)
      }
    })
  }

  /** [AGT-37] What was used is on the disk for good. */
  checkAfterPowerCut(): void {
    const leaf = this.readLeaf(`${IDENTITY_DIR}/agent.crt`)
    const isOld = leaf !== undefined && this.#model.wasNewerUsed(leaf.serial)
    demand(!isOld, '[AGT-37] an identity was used and then lost:', this.#host.hostname)
  }

  /** What a host that is built anew had promised is gone with it. */
  forget(): void {
    this.#builtAt = this.#promises
    for (const { requestId } of this.promised.values()) {
      if (!this.#model.hasEvent(this.#host.hostname, requestId)) this.promised.delete(requestId)
    }
  }

  /** What the hub had recorded and lost is no promise any more, unless the host has it still. */
  forgetLost(): void {
    const { hostname } = this.#host
    const waiting = new Set(this.#listWaiting().map(({ requestId }) => requestId))
    for (const { requestId } of this.promised.values()) {
      const isLost = this.#model.wasLost(hostname, requestId)
      if (isLost && !waiting.has(requestId)) this.promised.delete(requestId)
    }
  }

  /** What the host that stands there now has promised. */
  promisedSinceBuilt(): readonly PromisedEvent[] {
    return [...this.promised.values()].filter(({ order }) => order > this.#builtAt)
  }

  readLeaf(path: string): Certificate | undefined {
    return this.readCertificates(path)[0]
  }

  readCertificates(path: string): readonly Certificate[] {
    const file = readIfPresent(this.#host.disk, path)
    return file === undefined ? [] : parseCertificatesPem(file.content.toString())
  }

  /** The names of those that were set aside. */
  setAside(): readonly string[] {
    return listIfPresent(this.#host.disk, `${OUTBOX_DIR}/refused`).map(
      (name) => EVENT_FILE.exec(name)?.groups?.['requestId'] ?? name,
    )
  }

  #lookAtPairs(path: string): void {
    const isSeen = path === '/' || path.startsWith(IDENTITY_DIR) || path.startsWith(OUT_DIR)
    if (!isSeen) return
    this.#lookAtPair(`${IDENTITY_DIR}/agent.crt`, `${IDENTITY_DIR}/agent.key`)
    for (const name of listIfPresent(this.#host.disk, OUT_DIR)) {
      const base = /^(?<base>[^.].*)\.(?:crt|key)$/.exec(name)?.groups?.['base']
      if (SEALED_NAMES.has(name)) this.#lookAtSealedFile(name)
      if (base !== undefined) this.#lookAtPair(`${OUT_DIR}/${base}.crt`, `${OUT_DIR}/${base}.key`)
    }
  }

  readText(path: string): string | undefined {
    return readIfPresent(this.#host.disk, path)?.content.toString()
  }

  #lookAtSealedFile(name: string): void {
    const file = readIfPresent(this.#host.disk, `${OUT_DIR}/${name}`)
    if (file === undefined || this.#seen.has(file.content)) return
    const { hostname } = this.#host
    demand(file.mode === PRIVATE_MODE, '[AGT-36] a sealed file is open to others:', hostname)
    this.#sealed.checkFile(hostname, name, file.content)
    this.#seen.add(file.content)
  }

  /** [AGT-36] [AGT-2] */
  #lookAtPair(certificatePath: string, keyPath: string): void {
    const certificate = readIfPresent(this.#host.disk, certificatePath)
    const key = readIfPresent(this.#host.disk, keyPath)
    const where = `${this.#host.hostname} ${certificatePath}`
    demand((certificate === undefined) === (key === undefined), '[AGT-36] half a pair:', where)
    if (certificate === undefined || key === undefined) return
    demand(key.mode === PRIVATE_MODE, `[AGT-36] a key with mode ${key.mode.toString(8)}:`, where)
    if (this.#matches.get(certificate.content) === key.content) return
    demand(isMatch(certificate.content, key.content), '[AGT-36] no matching pair:', where)
    this.#matches.set(certificate.content, key.content)
  }

  #notePromises(): void {
    for (const { requestId, name } of this.#listWaiting()) {
      if (this.promised.has(requestId) || this.#notPromised.has(requestId)) continue
      // A power cut brings back files whose removal it undid; what they promised has been kept.
      if (this.#model.hasEvent(this.#host.hostname, requestId)) continue
      const text = fileAt(this.#host.disk, `${OUTBOX_DIR}/${name}`).content.toString()
      const { entrega_id: deliveryId } = JSON.parse(text) as EventRequestBody
      this.#promises += 1
      this.promised.set(requestId, { requestId, deliveryId, order: this.#promises })
    }
  }

  #listWaiting(): { requestId: string; name: string }[] {
    return listIfPresent(this.#host.disk, OUTBOX_DIR).flatMap((name) => {
      const requestId = EVENT_FILE.exec(name)?.groups?.['requestId']
      return requestId === undefined ? [] : [{ requestId, name }]
    })
  }
}

function isMatch(certificate: Buffer, key: Buffer): boolean {
  try {
    const [leaf] = parseCertificatesPem(certificate.toString())
    return leaf?.publicKeySpki.equals(parsePrivateKeyPem(key.toString()).publicKeySpki) === true
  } catch {
    return false
  }
}

function listIfPresent(disk: SimulatedDisk, path: string): string[] {
  const node = findIfPresent(disk, path)
  return node?.kind === 'directory' ? [...node.entries.keys()].sort() : []
}
