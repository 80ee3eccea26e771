// Files that people seal for hosts: what is in each, whom it is for, and that it is nobody else's.

import { hash } from 'node:crypto'
import type { AdminSealed } from '../../../src/protocol/admin/cargas.ts'
import type { AdminOperations } from '../../../src/protocol/admin/operations.ts'
import { parseRecipient } from '../../../src/protocol/identifiers.ts'
import { fingerprintOf } from '../../../src/sealing/age-identity.ts'
import { sealFor } from '../../../src/sealing/sealed-file.ts'
import type { AskHub } from './admin-socket.ts'
import { demand } from './demand.ts'
import { type Kernel, pick } from './kernel.ts'

export interface SealedFilesOptions {
  readonly kernel: Kernel
  readonly ask: AskHub
}

interface SealedText {
  readonly text: string
  /** Hostnames. */
  readonly readers: ReadonlySet<string>
}

const NAMES = ['password', 'license'] as const
export const SEALED_NAMES: ReadonlySet<string> = new Set(NAMES)
const SEALED = 'selado'

export class SealedFiles {
  readonly #options: SealedFilesOptions
  readonly #readersOf = new Map<string, SealedText>()
  readonly #bySha256 = new Map<string, SealedText>()

  constructor(options: SealedFilesOptions) {
    this.#options = options
  }

  /** For some of the hosts that there are. */
  async create(): Promise<void> {
    const { kernel, ask } = this.#options
    const nome = pick(NAMES, kernel.random) ?? NAMES[0]
    await ask('carga create', async (admin) => {
      const { agentes } = await admin.listAgents({})
      const chosen = agentes.filter((one) => one.revoked_at === null && kernel.random() < 0.9)
      if (chosen.length === 0) return
      const wanted = { agentes: chosen.map(({ id }) => id), roles: [] }
      const selado = await this.#seal(await admin.listRecipients(wanted))
      if (selado === undefined) return
      await admin.createCargo({ tipo: SEALED, nome, agentes: [], roles: [], sans: [], selado })
    })
  }

  async update(): Promise<void> {
    await this.#options.ask('carga update', async (admin) => {
      const sealed = (await admin.listCargoes({})).cargas.filter(({ tipo }) => tipo === SEALED)
      const chosen = pick(sealed, this.#options.kernel.random)
      if (chosen !== undefined) await this.reseal(admin, chosen.id)
    })
  }

  /** What a host that was built anew cannot open is sealed for it again. */
  async resealFailed(): Promise<void> {
    await this.#options.ask('carga reseal', async (admin) => {
      const { entregas } = await admin.listDeliveries({})
      const failed = entregas.filter(({ tipo, status }) => tipo === SEALED && status === 'falhou')
      for (const carga of new Set(failed.map(({ carga_id }) => carga_id))) {
        await this.reseal(admin, carga)
      }
    })
  }

  /** [BLB-8] What a host has open was sealed for it, and is whole. */
  checkFile(hostname: string, name: string, content: Buffer): void {
    const known = this.#readersOf.get(content.toString())
    demand(known !== undefined, '[AGT-36] a sealed file that is not whole:', `${hostname} ${name}`)
    demand(known?.readers.has(hostname), '[BLB-8] not sealed for it:', `${hostname} ${name}`)
  }

  /** What is in the file whose bytes have that digest. */
  textOf(sha256: string): string | undefined {
    return this.#bySha256.get(sha256)?.text
  }

  async reseal(admin: AdminOperations, carga: string): Promise<void> {
    const recipients = await admin.listRecipients({ carga, agentes: [], roles: [] })
    const selado = await this.#seal(recipients)
    if (selado !== undefined) await admin.updateCargo({ carga, selado })
  }

  /** Undefined when somebody has no key. What it is for is known before anybody can have it. */
  async #seal({
    agentes,
  }: Awaited<ReturnType<AdminOperations['listRecipients']>>): Promise<AdminSealed | undefined> {
    const readers = agentes.map(({ id, hostname, recipient }) => ({
      id,
      hostname,
      recipient: parseRecipient(recipient ?? ''),
    }))
    const recipients = readers.flatMap(({ recipient }) => recipient ?? [])
    if (recipients.length === 0 || recipients.length < readers.length) return undefined
    const sealed: SealedText = {
      text: `secret ${this.#readersOf.size}`,
      readers: new Set(readers.map(({ hostname }) => hostname)),
    }
    this.#readersOf.set(sealed.text, sealed)
    const bytes = await sealFor(recipients, Buffer.from(sealed.text))
    this.#bySha256.set(hash('sha256', bytes), sealed)
    return {
      conteudo: Buffer.from(bytes).toString('base64'),
      destinatarios: readers.flatMap(({ id, recipient }) =>
        recipient === undefined ? [] : [{ agente: id, fingerprint: fingerprintOf(recipient) }],
      ),
      escrow: [],
    }
  }
}
