// The hub itself, its log, and what waits in it. docs/protocol.md DOC-6, DOC-16, DOC-17.

import type { BacklogFacts } from '../protocol/admin/examination.ts'
import type { AdminReplies } from '../protocol/admin/operations.ts'
import { fault, type Finding, ok, showAbout, Unchecked, warning } from './finding.ts'
import type { HubFacts, UnitFacts } from './scene.ts'

type Status = AdminReplies['showStatus']

const JOURNAL = ['journalctl -u svc-server -n 50 --no-pager']
const NOT_SERVED = 'no host can enrol, renew or report'

export function judgeHub(
  { address, status, examination, failure, waitsFor }: HubFacts,
  unit: UnitFacts | undefined,
  version: string,
): Finding[] {
  if (failure !== undefined) {
    if (failure.kind === 'denied') throw new Unchecked(failure.reason)
    if (failure.kind === 'old') return [tooOld('the hub', version)]
    return [
      fault(`the hub at ${address} does not answer as it should: ${failure.reason}`, {
        why: NOT_SERVED,
        remedy: 'see what it does; when it hangs, start it again',
        commands: [...JOURNAL, 'systemctl restart svc-server'],
      }),
    ]
  }
  if (status === undefined) {
    const state = unit === undefined ? '' : `; systemd: ${describeUnit(unit)}`
    if (waitsFor.length > 0) {
      return [
        fault(`the hub waits: ${waitsFor.join('; ')}`, {
          why: `until it has what it waits for, ${NOT_SERVED}`,
          remedy: 'see to what the other checks name; the hub goes on by itself',
          commands: JOURNAL,
        }),
      ]
    }
    const commands =
      unit === undefined
        ? ['svc-server --check']
        : ['svc-server --check', ...JOURNAL, `systemctl restart ${unit.name}`]
    return [
      fault(`no hub answers at ${address}${state}`, {
        why: NOT_SERVED,
        remedy: 'mend what the other checks and the log name, and start it',
        commands,
      }),
    ]
  }
  const { version: theirs, hub } = status
  const found: Finding[] = (hub?.subsystems ?? [])
    .filter(({ ready }) => !ready)
    .map(({ name, reason, since }) =>
      fault(`the hub is not ready: ${name}: ${reason}${since === null ? '' : `, since ${since}`}`, {
        why: 'a part of its work fails',
        remedy: 'the reason says what it lacks; its log says more',
        commands: JOURNAL,
      }),
    )
  if (examination === undefined) {
    found.push(tooOld(`the hub (${theirs})`, version))
  } else if (theirs !== version) {
    found.push(
      warning(`the hub is version ${theirs}, and this svc is ${version}`, {
        why: 'hub and svc of one machine come in one package: the hub still runs the version from before an upgrade, or svc is another one',
        remedy: 'start the hub again',
        commands: ['systemctl restart svc-server'],
      }),
    )
  }
  return found.length > 0
    ? found
    : [ok(`it answers at ${address}, is ready, and has version ${theirs}`)]
}

function tooOld(what: string, version: string): Finding {
  return warning(`${what} is older than this svc (${version})`, {
    why: 'it cannot say what only it sees: its limits, its backlog, the growth of its vault',
    remedy: 'upgrade it; or start it again, if the package was upgraded under it',
    commands: ['systemctl restart svc-server'],
  })
}

function describeUnit({ activeState, result, restarts }: UnitFacts): string {
  const why = result === 'success' ? '' : ` (${result})`
  const times = restarts > 0 ? `, started again ${restarts} times` : ''
  return `${activeState}${why}${times}`
}

export function judgeLog(
  { entries, last_entry_at }: Pick<BacklogFacts, 'entries' | 'last_entry_at'>,
  { hub }: Pick<Status, 'hub'>,
): Finding[] {
  const audit = hub?.subsystems.find(({ name }) => name === 'audit')
  if (audit?.ready === false) {
    return [
      fault(audit.reason, {
        why: 'the audit log is evidence: somebody changed it, or a disk lost a part of it',
        remedy: 'keep a copy of the vault as it is, and find the first wrong entry',
        commands: ['svc event list --verify --limit 1'],
      }),
    ]
  }
  const last = last_entry_at === null ? '' : `, the last at ${last_entry_at}`
  const noun = entries === 1 ? 'entry' : 'entries'
  return [ok(`${entries} ${noun}${last}; its end is whole`)]
}

const WAITING_WARNING = 1000

export function judgeWebhooks({ webhooks }: Pick<BacklogFacts, 'webhooks'>): Finding[] {
  const found = webhooks.flatMap((webhook) => {
    const { id, origin, disabled, error, waiting, given_up } = webhook
    const named = `webhook ${id} (${origin})`
    const why = 'who is told by it does not learn what happens'
    const commands = [`svc webhook show ${id}`]
    if (disabled) {
      const remedy = 'its receiver answered 410 Gone: remove the webhook, or have it go on'
      return [
        warning(`${named} is disabled`, {
          why,
          remedy,
          commands: [...commands, `svc webhook replay ${id}`],
        }),
      ]
    }
    const lacks: Finding[] = []
    if (error !== null || waiting >= WAITING_WARNING) {
      const failing = error === null ? '' : `, and fails: ${error}`
      lacks.push(
        warning(`${waiting} messages wait for ${named}${failing}`, {
          why,
          remedy: 'mend the receiver; the hub goes on trying for three days',
          commands,
        }),
      )
    }
    if (given_up > 0) {
      lacks.push(
        warning(`the hub gave up ${given_up} messages to ${named}`, {
          why,
          remedy: 'mend the receiver, and have them sent again',
          commands: [...commands, `svc webhook replay ${id} --dead`],
        }),
      )
    }
    return lacks
  })
  return found.length > 0
    ? found
    : [ok(describeCount(webhooks.length, 'webhook', 'keep up', 'keeps up'))]
}

/** A CA that is away for a moment is told when it is back. */
const REVOCATION_MS_MAX = 15 * 60_000
const COUNT_MAX = 100

export function judgeRevocations(
  { revocations }: Pick<BacklogFacts, 'revocations'>,
  now: Date,
): Finding[] {
  const { waiting, refused, oldest_at, reason } = revocations
  const found: Finding[] = []
  const why =
    'the hub refuses these certificates already; others that ask the CA, or check only the chain, still take them until they end'
  const because = reason === null ? '' : `: ${reason}`
  const commands = ['svc agent revocations']
  const ageMs = oldest_at === null ? 0 : now.getTime() - Date.parse(oldest_at)
  if (waiting > 0 && ageMs > REVOCATION_MS_MAX) {
    const message = `${shownCount(waiting)} certificates wait to be revoked at the CA, the first for ${showAbout(ageMs)}${because}`
    const remedy = 'the hub goes on asking the CA: see why it does not answer, or refuses'
    found.push(warning(message, { why, remedy, commands }))
  }
  if (refused > 0) {
    const message = `the CA refused to revoke ${shownCount(refused)} certificates${because}`
    const remedy = 'see why; revoking the agent once more has the CA asked again'
    found.push(warning(message, { why, remedy, commands }))
  }
  return found.length > 0 ? found : [ok('nothing that is old waits to be revoked at the CA')]
}

export function judgeDeliveries({ entregas }: Pick<Status, 'entregas'>): Finding[] {
  const { falhou: failed, revertida: reverted, pendente, em_andamento } = entregas
  const found: Finding[] = []
  if (failed > 0) {
    found.push(
      warning(`${failed} deliveries have failed`, {
        why: 'these hosts do not have what they were to get, or go on with what they had',
        remedy: 'ERROR in the list says why; mend it on the host, and have it tried again',
        commands: ['svc delivery list --status failed', 'svc delivery retry --all'],
      }),
    )
  }
  if (reverted > 0) {
    found.push(
      warning(`of ${reverted} deliveries a target was taken back on the host`, {
        why: 'a service goes on with the old certificate, until that one ends',
        remedy: 'see what the service said, and mend it on the host',
        commands: ['svc delivery list --status reverted'],
      }),
    )
  }
  const waiting = pendente + em_andamento
  return found.length > 0
    ? found
    : [
        ok(
          waiting === 0 ? 'every delivery is done' : `none has failed; ${waiting} are on their way`,
        ),
      ]
}

export function judgeRollouts({
  rollouts,
  freeze,
}: Pick<Status, 'rollouts' | 'freeze'>): Finding[] {
  const frozen = rollouts.filter(({ state }) => state === 'frozen')
  if (frozen.length > 0) {
    return frozen.map(({ kind, nome, wave, waves, reason }) => {
      const [what, name] =
        nome === null ? [`the ${kind}`, kind] : [`the rollout of load ${nome}`, nome]
      return warning(`${what} is frozen in wave ${wave} of ${waves}: ${reason}`, {
        why: 'a part of its hosts has what it brings, the others do not, and nothing goes on by itself',
        remedy: 'see which hosts failed; then go on, or undo it',
        commands: [
          `svc rollout show ${name}`,
          `svc rollout resume ${name}`,
          `svc rollout undo ${name}`,
        ],
      })
    })
  }
  const held = freeze === null ? '' : `; a freeze holds until ${freeze.until}: ${freeze.why}`
  return [ok(`${describeCount(rollouts.length, 'rollout', 'go on', 'goes on')}${held}`)]
}

const HOSTS_SHOWN_MAX = 5

export function judgeAgents(
  { agentes }: Pick<Status, 'agentes'>,
  late: BacklogFacts['late'],
  now: Date,
): Finding[] {
  const { registered, atrasado } = agentes
  if (atrasado === 0)
    return [ok(describeCount(registered, 'agent', 'renew in time', 'renews in time'))]
  const hosts = [...new Set(late.map(({ hostname }) => hostname))]
  const shown = hosts.slice(0, HOSTS_SHOWN_MAX).join(', ')
  const named = hosts.length === 0 ? '' : `: ${shown}${atrasado > HOSTS_SHOWN_MAX ? ', …' : ''}`
  const firstMs = Math.min(...late.map(({ not_after }) => Date.parse(not_after)))
  const hasEnded = firstMs <= now.getTime()
  const message = `${atrasado} of ${registered} agents are silent, or late with a certificate${named}`
  const advice = {
    why: hasEnded
      ? 'some of their certificates have ended: services with them are refused'
      : 'their certificates end unless they renew',
    remedy: 'look at the agent on the host: whether it runs, reaches the hub, and what it logs',
    commands: [
      ...hosts.slice(0, 1).map((host) => `svc agent show ${host}`),
      'svc delivery list --late',
    ],
  }
  return [warning(message, advice)]
}

function describeCount(count: number, what: string, many: string, one: string): string {
  if (count === 0) return `there is no ${what}`
  return count === 1 ? `the one ${what} ${one}` : `all ${count} ${what}s ${many}`
}

function shownCount(count: number): string {
  return count >= COUNT_MAX ? `${COUNT_MAX} or more` : String(count)
}
