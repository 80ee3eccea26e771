// The people at the hub and at the hosts: they make tokens for hosts that need them, and otherwise do what they like.
// What the hub answered them has to stay true.

import { createCsrPem } from '../../../src/pki/csr.ts'
import { generateEcP256Key } from '../../../src/pki/keys.ts'
import { SvcError } from '../../../src/platform/errors.ts'
import type { AskHub } from './admin-socket.ts'
import type { ContractModel } from './contract-model.ts'
import { demand } from './demand.ts'
import { type CrashingHost, DATA_DIR } from './crashing-host.ts'
import type { Disaster } from './disaster.ts'
import type { HostWatch } from './watch-host.ts'
import type { Faults } from './faults.ts'
import type { HubInPlace } from './faulty-network.ts'
import { type Kernel, pick } from './kernel.ts'
import type { SealedFiles } from './sealed-files.ts'
import type { WebhookModel } from './webhook-model.ts'

export interface OperatorOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly model: ContractModel
  readonly webhooks: WebhookModel
  readonly sealed: SealedFiles
  readonly disaster: Disaster
  readonly hosts: readonly CrashingHost[]
  readonly watchOf: (host: CrashingHost) => HostWatch | undefined
  readonly findHub: () => HubInPlace | undefined
  readonly ask: AskHub
  readonly onRebuild: (host: CrashingHost) => void
  readonly note: (text: string) => void
}

const MINUTE_MS = 60_000
const ACT_INTERVAL_MS = 12 * MINUTE_MS
const REVOKE_INTERVAL_MS = 120 * MINUTE_MS
const OVER: ReadonlySet<string> = new Set(['cancelada', 'substituida'])
const BACK_MS_MAX = 20 * MINUTE_MS
const NAMES = ['site', 'db', 'mail'] as const
const ROLE = 'web'
const REPLAYED_MAX = 20

export class Operator {
  acts = 0
  /** After how many restores the loads were made again last. */
  #remadeAfter = 0
  readonly #options: OperatorOptions

  constructor(options: OperatorOptions) {
    this.#options = options
  }

  /** As long as there is trouble. */
  async act(): Promise<void> {
    const { kernel, faults } = this.#options
    while (!faults.isOver) {
      await kernel.sleep(kernel.random() * ACT_INTERVAL_MS)
      if (faults.isOver) return
      await this.#doSomething()
    }
  }

  /** The same: somebody is revoked, and may be heard at another hub still. */
  async revokeNowAndThen(): Promise<void> {
    const { kernel, faults, hosts } = this.#options
    const { random } = kernel
    for (;;) {
      await kernel.sleep(random() * REVOKE_INTERVAL_MS)
      const host = pick(hosts, random)
      if (faults.isOver || host === undefined) return
      await this.revoke(host)
    }
  }

  /** Asks until there is one; a host whose name is taken is enrolled again. */
  async obtainToken(host: CrashingHost): Promise<string> {
    const { kernel, faults } = this.#options
    for (let reenroll = false; ;) {
      const { hostname } = host
      const result = await this.#options.ask('token create', (admin) =>
        admin.createToken({ hostname, role: ROLE, reenroll, ttl_seconds: 3600 }),
      )
      if (result.ok) {
        const { id, token } = result.value
        demand(this.#options.model.hasAct(`token_created ${id}`), '[RES-8] no token:', id)
        if (faults.happens('token raced')) this.#race(token, hostname)
        return token
      }
      if (result.code?.startsWith('hostname_') === true) reenroll = true
      await kernel.sleep(faults.isOver ? 1000 : kernel.random() * MINUTE_MS)
    }
  }

  /**
   * At the end: whoever was revoked comes back, what failed is tried again, what was disabled goes on, and what is newer than a
   * backup that was restored is made again.
   */
  async setRight(): Promise<void> {
    const { kernel, disaster } = this.#options
    for (;;) {
      const result = await this.#options.ask('entrega retry', (admin) => admin.retryDeliveries({}))
      if (result.ok) break
      await kernel.sleep(1000)
    }
    for (;;) {
      for (const webhook of this.#options.webhooks.listDisabled()) {
        await this.#options.ask('webhook replay', (admin) => admin.replayWebhook({ webhook }))
      }
      await this.#options.sealed.resealFailed()
      this.#letBackIn()
      if (disaster.restores > 0) {
        await this.#bringRootsForward()
        await this.#remakeCargoes()
      }
      await kernel.sleep(MINUTE_MS)
    }
  }

  /** Who was revoked, and who has nothing that a restored hub takes back. */
  #letBackIn(): void {
    const { hosts, model, disaster, watchOf } = this.#options
    for (const host of hosts) {
      const { hostname } = host
      if (host.wantsNewIdentity) continue
      const serial = watchOf(host)?.readLeaf(`${DATA_DIR}/identity/agent.crt`)?.serial ?? ''
      const isUnknown =
        disaster.restores > 0 &&
        !model.knowsCertificate(serial) &&
        !disaster.isReturning(hostname, serial)
      if (!isUnknown && !model.isRevokedHost(hostname)) continue
      host.wantsNewIdentity = true
      host.restart()
    }
  }

  /** Once after each restore, as hosts may have others than the hub knows. */
  async #remakeCargoes(): Promise<void> {
    const { ask, sealed, model } = this.#options
    const { restores } = model
    if (this.#remadeAfter === restores) return
    const listed = await ask('entrega list', (admin) => admin.listDeliveries({}))
    if (!listed.ok) return
    const left = listed.value.entregas.filter(({ status }) => !OVER.has(status))
    this.#remadeAfter = restores
    for (const carga of new Set(left.map(({ carga_id }) => carga_id))) {
      const isSealed = left.some((one) => one.carga_id === carga && one.tipo === 'selado')
      if (isSealed) await ask('carga reseal', (admin) => sealed.reseal(admin, carga))
      else await ask('carga update', (admin) => admin.updateCargo({ carga }))
    }
  }

  /** Hosts follow no number that is less than theirs. */
  async #bringRootsForward(): Promise<void> {
    const { disaster, model, ask } = this.#options
    const numero = disaster.rootSetNumber + 1
    if (disaster.rootSetNumber < model.roots.number || this.#options.model.restores === 0) return
    await ask('bundle update', (admin) => admin.updateBundle({ numero }))
  }

  async #doSomething(): Promise<void> {
    const { kernel, hosts, onRebuild, note } = this.#options
    const { random } = kernel
    const host = pick(hosts, random)
    if (host === undefined) return
    this.acts += 1
    const acts: (() => Promise<unknown> | void)[] = [
      () => this.#createCargo(),
      () => this.#createCargo(),
      () => this.#createCargo(),
      () => this.#changeCargo('update'),
      () => this.#changeCargo('update'),
      () => this.#changeCargo('remove'),
      () => this.#changeDelivery(),
      () => this.#options.ask('entrega retry', (admin) => admin.retryDeliveries({})),
      () => this.#strayToken(),
      () => this.#options.sealed.create(),
      () => this.#options.sealed.create(),
      () => this.#options.sealed.create(),
      () => this.#options.sealed.update(),
      () => this.#options.sealed.update(),
      () => this.#createWebhook(),
      () => this.#createWebhook(),
      () => this.#changeWebhook(),
      () => this.revoke(host),
      () => host.rotate(),
      () => host.rotate(),
      () => host.restart(),
      () => {
        note(`${host.hostname} is enrolled again`)
        host.wantsNewIdentity = true
        host.restart()
      },
      () => {
        note(`${host.hostname} is built anew`)
        onRebuild(host)
        host.rebuild()
      },
    ]
    await pick(acts, random)?.()
  }

  async #createCargo(): Promise<void> {
    const { random } = this.#options.kernel
    const nome = pick(NAMES, random) ?? NAMES[0]
    const chosen = this.#options.hosts.filter(() => random() < 0.6)
    const agentes = chosen.map(({ hostname }) => hostname)
    const sans = random() < 0.5 ? [`${nome}.example`] : []
    const result = await this.#options.ask('carga create', (admin) =>
      admin.createCargo({ tipo: 'csr_cert', nome, agentes, roles: [], sans }),
    )
    if (!result.ok) return
    this.#expectAct(`carga_created ${result.value.carga_id} 1`)
  }

  async #changeCargo(how: 'update' | 'remove'): Promise<void> {
    const { random } = this.#options.kernel
    const cargoes = await this.#options.ask('carga list', (admin) => admin.listCargoes({}))
    const cargo = cargoes.ok ? pick(cargoes.value.cargas, random) : undefined
    if (cargo === undefined) return
    const carga = cargo.id
    if (how === 'remove') {
      const result = await this.#options.ask('carga remove', (admin) =>
        admin.removeCargo({ carga }),
      )
      if (result.ok) this.#expectAct(`carga_removed ${carga} undefined`)
      return
    }
    const result = await this.#options.ask('carga update', (admin) => admin.updateCargo({ carga }))
    if (result.ok) this.#expectAct(`carga_updated ${carga} ${result.value.versao}`)
  }

  async #changeDelivery(): Promise<void> {
    const { random } = this.#options.kernel
    const listed = await this.#options.ask('entrega list', (admin) => admin.listDeliveries({}))
    const delivery = listed.ok ? pick(listed.value.entregas, random) : undefined
    if (delivery === undefined) return
    const entrega = delivery.id
    if (random() < 0.5) {
      const result = await this.#options.ask('entrega cancel', (admin) =>
        admin.cancelDelivery({ entrega }),
      )
      if (result.ok) this.#expectAct(`entrega_cancelled ${entrega} undefined`)
    } else await this.#options.ask('entrega retry', (admin) => admin.retryDeliveries({ entrega }))
  }

  /** At an origin of its own, by which the log names it. */
  async #createWebhook(): Promise<void> {
    const { webhooks, kernel } = this.#options
    const tipos = kernel.random() < 0.5 ? [] : ['agent_enrolled', 'entrega_instalada']
    const url = `https://receiver-${this.acts}.example/`
    const made = await this.#options.ask('webhook create', (admin) =>
      admin.createWebhook({ url, tipos }),
    )
    if (made.ok) demand(webhooks.knows(made.value.id), '[RES-8] no webhook:', made.value.id)
  }

  async #changeWebhook(): Promise<void> {
    const { webhooks, kernel, ask } = this.#options
    const listed = await ask('webhook list', (admin) => admin.listWebhooks({}))
    const chosen = listed.ok ? pick(listed.value.webhooks, kernel.random) : undefined
    if (chosen === undefined) return
    const { id, url, seq } = chosen
    if (kernel.random() < 0.5) {
      const back = Math.max(1, seq - Math.floor(kernel.random() * REPLAYED_MAX))
      await ask('webhook replay', (admin) => admin.replayWebhook({ webhook: id, seq: back }))
      return
    }
    const removed = await ask('webhook remove', (admin) => admin.removeWebhook({ webhook: id }))
    if (removed.ok) webhooks.noteRemoved(new URL(url).origin)
  }

  async #strayToken(): Promise<void> {
    const hostname = `stray-${this.acts}.example`
    const made = await this.#options.ask('token create', (admin) =>
      admin.createToken({ hostname, role: ROLE }),
    )
    if (!made.ok || this.#options.kernel.random() < 0.5) return
    const { id } = made.value
    const result = await this.#options.ask('token revoke', (admin) =>
      admin.revokeToken({ token: id }),
    )
    if (result.ok) this.#expectAct(`token_revoked ${id}`)
  }

  /** It is seen after a while, and the host let in again. */
  async revoke(host: CrashingHost): Promise<void> {
    const { model, kernel } = this.#options
    const { hostname } = host
    const result = await this.#options.ask('agente revoke', (admin) =>
      admin.revokeAgent({ agente: hostname }),
    )
    if (!result.ok) return
    demand(model.isRevokedHost(hostname), '[RES-9] answered, not revoked:', hostname)
    kernel.after(kernel.random() * BACK_MS_MAX, () => {
      host.wantsNewIdentity = true
      host.restart()
    })
  }

  /** Somebody else has the token too; one of the two gets in. */
  #race(token: string, hostname: string): void {
    const place = this.#options.findHub()
    if (place === undefined) return
    const { program, hub } = place
    const { kernel } = this.#options
    const steal = async (): Promise<void> => {
      await program.clock.sleep(kernel.random() * 1000)
      const csr = await createCsrPem(hostname, await generateEcP256Key())
      await hub.enrollAgent({ token, hostname, role: ROLE, csr_pem: csr }, undefined)
    }
    program.run(steal).catch((error: unknown) => this.#judge(error, program.isAlive))
  }

  #expectAct(act: string): void {
    demand(this.#options.model.hasAct(act), '[RES-8] answered, and not in the log:', act)
  }

  #judge(error: unknown, isAlive: boolean): void {
    const isRefusal = error instanceof SvcError
    if (isAlive && !isRefusal) this.#options.kernel.fail(error)
  }
}
