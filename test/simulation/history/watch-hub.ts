// The hub's services, each answer of which is held against the model before anybody gets it.

import { hashToken } from '../../../src/hub/domain/hash-token.ts'
import type { Store } from '../../../src/hub/store/store.ts'
import { parseCertificatesPem } from '../../../src/pki/certificates.ts'
import type { RunningHub } from '../simulated-hub.ts'
import type { ClaimModel } from './claim-model.ts'
import type { ContractModel } from './contract-model.ts'
import { demand } from './demand.ts'
import type { Program } from './kernel.ts'

export function watchHub(
  hub: RunningHub,
  program: Program,
  model: ContractModel,
  claims: ClaimModel | undefined,
): RunningHub {
  const { clock } = hub
  /** [HUB-4] What any hub has answered by now, this one knows when it goes on. */
  const catchUp = async (): Promise<void> => {
    if (hub.catchUp === undefined) return
    const { entryCount } = model
    await hub.catchUp()
    const { seq = 0 } = (await hub.store.reader.findChainEnd()) ?? {}
    kernel.look(() => demand(seq >= entryCount, '[HUB-4] it goes on without entry', entryCount))
  }
  const { kernel } = program
  const follow = (): Promise<void> => followWhileAlive(hub.store, program, model)
  const nowMs = (): number => clock.now().getTime()
  return {
    ...hub,
    authenticateAgent: (presented) =>
      watchAdmission({ follow, model, nowMs }, presented.serial, async () => {
        await catchUp()
        return hub.authenticateAgent(presented)
      }),
    enrollAgent: async (request, key) => {
      const tokenId = tokenIdOf(request.token)
      await follow()
      const wasOpen = model.tokens.isOpen(tokenId, nowMs())
      const wasConsumed = model.tokens.isConsumed(tokenId)
      const isUncertain = model.tokens.isUncertain(tokenId)
      claims?.noteEnrolment(tokenId, request.csr_pem, program)
      await catchUp()
      const outcome = await hub.enrollAgent(request, key)
      await follow()
      if (outcome.ok) {
        demand(
          wasOpen || wasConsumed || isUncertain,
          '[ENR-5] enrolled by a token that was over',
          tokenId,
        )
        demand(!wasConsumed || key !== undefined, '[ENR-17] replayed without a key')
        demand(model.tokens.isConsumed(tokenId), '[ENR-11] enrolled, and the token is not consumed')
        demand(model.purposeOf(serialOf(outcome.certificatePem)) === 'identity', '[ENR-11] record')
        return outcome
      }
      const isConsumed = model.tokens.isConsumed(tokenId)
      if (outcome.refusal === 'token_consumed') {
        const isUsed = isConsumed || isUncertain
        demand(isUsed, '[ENR-12] refused as consumed, and never used', tokenId)
      }
      if (outcome.refusal === 'token_not_found') {
        demand(!model.tokens.has(tokenId), '[RES-8] a token is lost', tokenId)
      }
      if (outcome.refusal === 'token_expired') {
        const isOver = isUncertain || !model.tokens.isOpen(tokenId, nowMs())
        demand(isOver, '[ENR-5] refused as expired', tokenId)
        model.tokens.noteRefusedAsExpired(tokenId)
      }
      return outcome
    },
    issueCertificate: async (agent, request, presented, recordAlso) => {
      const outcome = await hub.issueCertificate(agent, request, presented, recordAlso)
      if (outcome.ok) {
        await follow()
        const purpose = request.entrega_id === undefined ? 'identity' : 'delivery'
        const recorded = model.purposeOf(serialOf(outcome.certificatePem))
        demand(recorded === purpose, '[ISS-10] issued and not recorded, but', recorded)
      }
      return outcome
    },
    recoverIdentity: async (request) => {
      await catchUp()
      const outcome = await hub.recoverIdentity(request)
      if (outcome.ok) {
        await follow()
        const recorded = model.purposeOf(serialOf(outcome.certificatePem))
        demand(recorded === 'identity', '[REC-7] recovered and not recorded')
      }
      return outcome
    },
    recordEvent: async (agent, event) => {
      const outcome = await hub.recordEvent(agent, event)
      await follow()
      if (outcome.ok) {
        const hash = model.hashOfEvent(agent.id, event.request_id ?? '')
        demand(hash === outcome.hash, '[EVT-7] answered and not in the log:', event.tipo_evento)
      }
      demand(
        outcome.ok || outcome.refusal !== 'request_id_conflict',
        '[AGT-28] one request_id, two events:',
        event.tipo_evento,
      )
      return outcome
    },
    listManifest: async (agent) => {
      const manifest = await hub.listManifest(agent)
      const { entregas } = await hub.admin.listDeliveries({})
      for (const { id } of manifest.entregas) {
        const delivery = entregas.find((each) => each.id === id)
        const isOwn = delivery?.agente_id === agent.id
        const isWaiting = delivery?.status === 'pendente' || delivery?.status === 'em_andamento'
        demand(isOwn && isWaiting, '[MAN-2] listed:', `${delivery?.hostname} ${delivery?.status}`)
      }
      return manifest
    },
  }
}

/** All that a hub knows, against all that the model does: after each start, and at the end. */
export async function checkWholeHub(hub: RunningHub, model: ContractModel): Promise<void> {
  await model.checkLogKept(hub.store.reader)
  model.tokens.check((await hub.admin.listTokens({})).tokens)
  model.checkAgents((await hub.admin.listAgents({})).agentes)
  model.deliveries.check((await hub.admin.listDeliveries({})).entregas)
  const { numero, roots } = hub.bundle()
  model.roots.check(numero, roots.flatMap(fingerprintsIn), fingerprintsIn(hub.rootPem()))
}

/** What a dead hub still commits in its last moments is on no disk: nobody goes on from there. */
export async function followWhileAlive(
  { reader }: Pick<Store, 'reader'>,
  program: Program,
  model: ContractModel,
): Promise<void> {
  if (!program.isAlive) await new Promise(() => undefined)
  await model.follow(reader)
}

export function tokenIdOf(token: string): string {
  return hashToken(token).slice(0, 16)
}

/** What changes while the hub decides may decide either way. */
async function watchAdmission<Outcome extends { readonly ok: boolean }>(
  {
    follow,
    model,
    nowMs,
  }: {
    readonly model: ContractModel
    follow(this: void): Promise<void>
    nowMs(this: void): number
  },
  serial: string,
  authenticate: () => Promise<Outcome>,
): Promise<Outcome> {
  await follow()
  const startMs = nowMs()
  const before = model.admissionOf(serial, startMs)
  const hadBeenUsed = model.wasUsed(serial)
  model.noteAttemptedUse(serial, startMs)
  const outcome = await authenticate()
  await follow()
  const endMs = nowMs()
  const after = model.admissionOf(serial, endMs)
  if (outcome.ok) {
    demand(before !== 'no' || after !== 'no', '[AUT-8] let in by', serial)
    model.noteUse(serial, Math.max(startMs, endMs))
  } else {
    demand(before !== 'yes' || after !== 'yes', '[AUT-8] kept out:', serial)
    model.noteRefusedUse(serial, hadBeenUsed)
  }
  return outcome
}

function fingerprintsIn(pem: string): string[] {
  return parseCertificatesPem(pem).map(({ sha256 }) => sha256)
}

function serialOf(chainPem: string): string {
  return parseCertificatesPem(chainPem)[0]?.serial ?? ''
}
