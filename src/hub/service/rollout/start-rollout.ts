// `svc carga update --waves`: the next version of a carga becomes a rollout. Nobody gets the version here: the hub opens the waves.
// docs/protocol.md RLO-1 to RLO-6.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { DeliveryKind, HubEventType } from '../../../protocol/words.ts'
import type { Cargo } from '../../domain/cargo.ts'
import { type LoadRollout, type LoadSubject, newRollout } from '../../domain/rollout.ts'
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
import { toEntryPayload } from './name-rollout.ts'
import {
  answerStart,
  newRolloutId,
  parseRules,
  refuseHubsWithoutRollouts,
  type RolloutHubs,
  toRulesPayload,
} from './rollout-rules.ts'

type StartContext = CargoContext & { readonly hubs?: RolloutHubs }

export const startRollout: Course<'startRollout', StartContext> = {
  run: async (turn, request, context) => {
    const { store, clock, changes, hubs } = context
    const rules = parseRules(request)
    const file = request.selado && parseSealedFile(request.selado, context.contentBytesMax)
    const sans = request.sans && parseCargoSans(request.sans, context.hubNames)
    await refuseHubsWithoutRollouts(hubs)
    return changes.inTurn(async () => {
      await turn.refuseRepetition()
      const old = await findUpdatable(store.reader, request)
      refusePush(old)
      const hosts = await countHosts(store.reader, old, { sans, file, by: context.role })
      const version = old.version + 1
      const rollout = newRollout<LoadSubject>({
        id: newRolloutId(),
        subject: { kind: 'load', cargoId: old.id, version, sans: sans ?? old.sans },
        ...rules,
        startedBy: context.actor,
        createdAt: clock.now(),
      })
      const act = beginning(rollout, old, hosts, file)
      return turn.commit(async (writer) => {
        await findUpdatable(writer, { ...request, versao: old.version })
        await writer.rollouts.insert(rollout)
        if (file !== undefined) await writer.rollouts.setContent(rollout.id, file.content)
        const reply = await answerStart(writer, rollout, hosts)
        return { acts: [act], reply, news: { areRolloutsChanged: true } }
      })
    })
  },
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

function beginning(
  rollout: LoadRollout,
  { name }: Cargo,
  hosts: number,
  file: SealedFile | undefined,
): AdminAct {
  const payload = {
    ...toEntryPayload(rollout, { nome: name }),
    sans: rollout.subject.sans,
    ...toRulesPayload(rollout, hosts),
    ...(file && describeContent(file.content)),
  }
  return { type: HubEventType.rolloutStarted, payload }
}
