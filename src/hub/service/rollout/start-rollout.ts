// `svc carga update --waves`: the next version of a carga becomes a rollout. Nobody gets the version here: the hub opens the waves.
// docs/protocol.md RLO-1 to RLO-6.

import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AdminHubRow } from '../../../protocol/admin/hubs.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import { LATE_DEFAULT_SECONDS } from '../../../protocol/admin/rollouts.ts'
import type { RolloutId } from '../../../protocol/identifiers.ts'
import {
  findWavesFault,
  formatShare,
  hostsOfWave,
  parseShare,
  type Share,
} from '../../../protocol/rollout-share.ts'
import { DeliveryKind, HubEventType } from '../../../protocol/words.ts'
import type { Cargo } from '../../domain/cargo.ts'
import { isInForce } from '../../domain/freeze.ts'
import { newRollout, type Rollout } from '../../domain/rollout.ts'
import type { StoreReader } from '../../store/store.ts'
import { type AdminAct, type AdminAsker, AdminRefusal, type Course } from '../admin-act.ts'
import type { CargoContext } from '../cargo/cargo-context.ts'
import { addedSans, findUpdatable } from '../cargo/change-cargo.ts'
import { SLICE_DELIVERIES } from '../cargo/fleet-changes.ts'
import { parseCargoSans } from '../cargo/parse-cargo.ts'
import { refuseForbiddenSans } from '../cargo/refuse-agents.ts'
import { readAddressees, refuseOtherAddressees } from '../cargo/sealed-addressees.ts'
import { describeContent, parseSealedFile, type SealedFile } from '../cargo/sealed-file.ts'
import { refuseOperatorsAutomaticSans, refuseOperatorsSans } from '../refuse-operator.ts'
import { toAdminRollout } from './rollout-views.ts'

/** The hubs that share the vault; of one of them that runs. */
export interface RolloutHubs {
  list(): Promise<readonly Pick<AdminHubRow, 'host' | 'tables' | 'state' | 'is_this'>[]>
}

type StartContext = CargoContext & { readonly hubs?: RolloutHubs }

const ID_BYTES = 8

export const startRollout: Course<'startRollout', StartContext> = {
  run: async (turn, request, context) => {
    const { store, clock, changes, hubs } = context
    const rules = parseRules(request)
    const file = request.selado && parseSealedFile(request.selado, context.contentBytesMax)
    const sans = request.sans && parseCargoSans(request.sans, context.hubNames)
    await refuseOlderHubs(hubs)
    return changes.inTurn(async () => {
      await turn.refuseRepetition()
      const old = await findUpdatable(store.reader, request)
      refusePush(old)
      const hosts = await countHosts(store.reader, old, { sans, file, by: context.role })
      const now = clock.now()
      const rollout = newRollout({
        id: randomBytes(ID_BYTES).toString('hex') as RolloutId,
        cargoId: old.id,
        version: old.version + 1,
        sans: sans ?? old.sans,
        ...rules,
        startedBy: context.actor,
        createdAt: now,
      })
      const act = beginning(rollout, old, hosts, file)
      return turn.commit(async (writer) => {
        const current = await findUpdatable(writer, { ...request, versao: old.version })
        await writer.rollouts.insert(rollout)
        if (file !== undefined) await writer.rollouts.setContent(rollout.id, file.content)
        const freeze = await writer.rollouts.findFreeze()
        const isHeld = freeze !== undefined && isInForce(freeze, now)
        const reply: AdminReplies['startRollout'] = {
          ...toAdminRollout(rollout, current),
          hosts: hosts,
          planned: planOf(rollout, hosts),
          frozen_until: isHeld ? freeze.until.toISOString() : null,
        }
        return { acts: [act], reply, news: { areRolloutsChanged: true } }
      })
    })
  },
}

function parseRules({
  waves: texts,
  max_failed,
  soak_seconds,
  late_seconds = LATE_DEFAULT_SECONDS,
}: AdminRequest<'startRollout'>): Pick<Rollout, 'waves' | 'maxFailed' | 'soakMs' | 'lateMs'> {
  const waves: Share[] = []
  for (const text of texts) {
    const wave = parseShare(text)
    if (wave === undefined) {
      throw new AdminRefusal(
        'waves_invalid',
        `${text} is neither a number of hosts nor a percentage`,
      )
    }
    waves.push(wave)
  }
  const fault = findWavesFault(waves)
  if (fault !== undefined) throw new AdminRefusal('waves_invalid', `the waves ${fault}`)
  const maxFailed = parseShare(max_failed)
  if (maxFailed === undefined) {
    throw new AdminRefusal(
      'max_failed_invalid',
      `${max_failed} is neither a number of hosts nor a percentage`,
    )
  }
  return { waves, maxFailed, soakMs: soak_seconds * 1000, lateMs: late_seconds * 1000 }
}

/** Such a hub would hand out the content of the carga to a host that was given the next one. docs/protocol.md RLO-6. */
async function refuseOlderHubs(hubs: RolloutHubs | undefined): Promise<void> {
  const known = (await hubs?.list()) ?? []
  const tables = known.find((hub) => hub.is_this)?.tables ?? 0
  const older = known.find((hub) => hub.state === 'running' && (hub.tables ?? 0) < tables)
  if (older === undefined) return
  throw new AdminRefusal(
    'hubs_differ',
    `the hub at ${older.host ?? 'another machine'} is older than this one, and knows no rollouts: upgrade it first`,
  )
}

function refusePush({ kind, name }: Cargo): void {
  if (kind !== DeliveryKind.push) return
  throw new AdminRefusal('content_unwanted', `load ${name} is a push, which goes to one host`, {
    tipo: kind,
  })
}

/** That have the carga, without the revoked ones. Throws the AdminRefusal of what one of them may not have. */
async function countHosts(
  reader: StoreReader,
  old: Cargo,
  {
    sans,
    file,
    by,
  }: {
    readonly sans: readonly string[] | undefined
    readonly file: SealedFile | undefined
    readonly by: AdminAsker['role']
  },
): Promise<number> {
  await refuseOperatorsAutomaticSans(reader, old, addedSans(old, sans), by)
  let count = 0
  const hostnames: string[] = []
  for (let after: number | null = 0; after !== null;) {
    const step = { after, limit: SLICE_DELIVERIES }
    const { deliveries, next } = await reader.listCargoDeliveries(old.id, step)
    const agents = await reader.findAgents(deliveries.map(({ agentId }) => agentId))
    const unrevoked = agents.filter(({ revokedAt }) => revokedAt === null)
    await refuseForbiddenSans(reader, unrevoked, sans ?? old.sans)
    await refuseOperatorsSans(reader, unrevoked, addedSans(old, sans), by)
    count += unrevoked.length
    if (file !== undefined) hostnames.push(...unrevoked.map(({ hostname }) => hostname))
    after = next
    await nextTurn()
  }
  if (count === 0) {
    throw new AdminRefusal('rollout_empty', `no host has load ${old.name}`)
  }
  if (file !== undefined) {
    // Hosts of its selector that have no entrega yet are none of a rollout: they get their first one with an update.
    const { hostnames: sealedFor } = await readAddressees(reader, old, file)
    refuseOtherAddressees(old, { sealedFor, hostnames })
  }
  return count
}

function planOf({ waves }: Rollout, hosts: number): AdminReplies['startRollout']['planned'] {
  return waves.map((wave) => ({ wave: formatShare(wave), hosts: hostsOfWave(wave, hosts) }))
}

function beginning(
  rollout: Rollout,
  { name }: Cargo,
  hosts: number,
  file: SealedFile | undefined,
): AdminAct {
  const payload = {
    rollout: rollout.id,
    carga_id: rollout.cargoId,
    nome: name,
    versao: rollout.version,
    sans: rollout.sans,
    waves: planOf(rollout, hosts),
    soak_seconds: rollout.soakMs / 1000,
    late_seconds: rollout.lateMs / 1000,
    max_failed: formatShare(rollout.maxFailed),
    agentes_total: hosts,
    ...(file && describeContent(file.content)),
  }
  return { type: HubEventType.rolloutStarted, payload }
}
