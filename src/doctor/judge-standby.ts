// The second machine that keeps a copy of the vault, or the hub whose copy is here. docs/protocol.md DOC-29.

import { fault, type Finding, ok, Unchecked, warning } from './finding.ts'
import type { StandbyFacts } from './scene.ts'

const ONE_MACHINE = 'what the hub acknowledges meanwhile is on one machine'
const LOOK = ['svc standby status']

export function judgeStandby(facts: StandbyFacts | undefined): Finding[] {
  if (facts === undefined) return [ok('the vault is on this machine alone: no SVC_STANDBY_BIND')]
  const { role, status } = facts
  if (role === 'deposed') {
    return [
      fault('the standby of this vault was promoted, and is the hub now', {
        why: 'svc-server does not start with this vault again',
        remedy: 'move the vault aside, and make this machine the standby of the new hub',
        commands: ['svc standby init --from config.json'],
      }),
    ]
  }
  if (status === undefined) {
    if (role === 'hub') throw new Unchecked('no hub runs here', { isExpected: true })
    return [
      fault('this machine is a standby, and no svc-server runs here', {
        why: ONE_MACHINE,
        remedy: 'start svc-server',
        commands: ['svc-server --check', 'systemctl restart svc-server'],
      }),
    ]
  }
  return [role === 'hub' ? judgeOfHub(status) : judgeOfStandby(status)]
}

type Status = NonNullable<StandbyFacts['status']>

function judgeOfHub({ state, other, reason }: Status): Finding {
  const why = reason ?? 'it was never there'
  if (state === 'together') return ok(`the standby at ${other} has every write`)
  if (state === 'none') return ok('the hub has no standby: no SVC_STANDBY_BIND')
  const remedy = 'see svc standby status and the log of svc-server on the machine of the standby'
  return state === 'apart'
    ? fault(`the hub writes nothing without its standby: ${why}`, {
        why: 'SVC_STANDBY=required: no host can enrol, renew or report',
        remedy: `${remedy}; SVC_STANDBY=preferred goes on without it`,
        commands: LOOK,
      })
    : warning(`the standby lacks writes: ${why}`, { why: ONE_MACHINE, remedy, commands: LOOK })
}

function judgeOfStandby({ state, other, reason }: Status): Finding {
  if (state === 'connected')
    return ok(`this machine is the standby of ${other}, and has its writes`)
  if (state === 'behind') {
    return warning(`this standby lacks writes: another copy of the vault is on its way`, {
      why: ONE_MACHINE,
      remedy: 'let the hub finish; svc standby promote --force promotes the older copy',
      commands: LOOK,
    })
  }
  const what = state === 'empty' ? 'has no copy of the vault yet' : 'hears nothing of its hub'
  return warning(`this standby ${what}: ${other}: ${reason}`, {
    why: state === 'empty' ? `${ONE_MACHINE}, and it cannot be promoted` : ONE_MACHINE,
    remedy:
      'start the hub, with SVC_STANDBY_BIND where SVC_STANDBY_OF leads; when it is lost: svc standby promote',
    commands: LOOK,
  })
}
