// What the machine allows the hub, and what of its memory it may write down. docs/protocol.md DOC-15, DOC-18.

import type { ProcessFacts } from '../protocol/admin/examination.ts'
import { type Advice, fault, type Finding, ok, showBytes, warning } from './finding.ts'
import type { MachineFacts, NameFacts, PortFacts, UnitFacts } from './scene.ts'

/** Files of the vault, of the CA, of webhooks, of children. */
const OTHER_FILES = 512
/** A connection and a stream. */
const FILES_PER_AGENT = 2

export function judgeLimits(
  { open_files_max: files }: Pick<ProcessFacts, 'open_files_max'>,
  connectionsMax: number | undefined,
  agents: number | undefined,
  unit: UnitFacts | undefined,
): Finding[] {
  if (files === null) return [ok('this system does not say how many files a process may open')]
  if (files === 'unlimited') return [ok('the hub may open any number of files')]
  const bound = connectionsMax ?? 0
  const needed = Math.max(bound, (agents ?? 0) * FILES_PER_AGENT) + OTHER_FILES
  if (files >= needed) return [ok(`the hub may have ${files} files open`)]
  const isFleet = (agents ?? 0) * FILES_PER_AGENT > bound
  const what = isFleet
    ? `${agents} agents can hold ${(agents ?? 0) * FILES_PER_AGENT} connections`
    : `SVC_LIMIT_CONNECTIONS lets ${bound} connections in at one port`
  const message = `the hub may have ${files} files open, and ${what}`
  const wanted = 2 ** Math.ceil(Math.log2(needed))
  return [
    (isFleet ? fault : warning)(message, {
      why: 'a hub without a free descriptor accepts nobody, and cannot ask its CA',
      ...mend(unit, 'files', 'LimitNOFILE', String(wanted), `raise the limit to ${wanted}`),
    }),
  ]
}

/** These look at the process’s own limit, and write nothing at 0. */
const OBEDIENT = /(systemd-coredump|apport|abrt-hook-ccpp|\/false|\/true)(\s|$)/

export function judgeCoreDumps(
  { core_bytes_max: limit }: Pick<ProcessFacts, 'core_bytes_max'>,
  { corePattern }: Pick<MachineFacts, 'corePattern'>,
  unit: UnitFacts | undefined,
): Finding[] {
  const why =
    'a core dump has the passphrase’s key, the vault’s key and the provisioner’s key in it, and stays on the disk'
  const isPiped = corePattern.startsWith('|')
  if (limit === null) return [ok('this system does not say how large a core dump may be')]
  if (limit !== 0) {
    const size = limit === 'unlimited' ? 'of any size' : `of up to ${showBytes(limit)}`
    const to = isPiped ? ` to ${corePattern.slice(1).split(' ')[0]}` : ''
    const message = `a hub that crashes leaves a core dump ${size}${to}`
    const remedy = 'allow none'
    return [warning(message, { why, ...mend(unit, 'core', 'LimitCORE', '0', remedy) })]
  }
  if (!isPiped || OBEDIENT.test(corePattern)) return [ok('a hub that crashes leaves no core dump')]
  const program = corePattern.slice(1).split(' ')[0] ?? ''
  return [
    warning(`the kernel hands core dumps to ${program}, whatever the limit of the process`, {
      why,
      remedy:
        'see what that program does with them, or have the kernel write files, which obey the limit of 0',
      commands: ['sysctl -w kernel.core_pattern=core'],
    }),
  ]
}

export function judgeSwap(
  { swap_bytes_max: limit }: Pick<ProcessFacts, 'swap_bytes_max'>,
  { swaps }: Pick<MachineFacts, 'swaps'>,
  unit: UnitFacts | undefined,
): Finding[] {
  const unsafe = swaps.filter(({ isSafe }) => !isSafe)
  if (unsafe.length === 0) {
    return [
      ok(swaps.length === 0 ? 'this machine has no swap' : 'all swap is in memory or encrypted'),
    ]
  }
  if (limit === 0) return [ok('this machine has swap, which the hub may not use')]
  const names = unsafe.map(({ name, bytes }) => `${name} (${showBytes(bytes)})`).join(', ')
  return [
    warning(`the hub’s memory may be swapped out, in plain, to ${names}`, {
      why: 'keys and secrets in it then stay on that disk, also when the machine is off',
      ...mend(
        unit,
        'swap',
        'MemorySwapMax',
        '0',
        'keep the hub out of it, encrypt the swap, or do without',
      ),
    }),
  ]
}

/** A drop-in for the unit, where there is one. */
function mend(
  unit: UnitFacts | undefined,
  file: string,
  directive: string,
  value: string,
  remedy: string,
): Pick<Advice, 'remedy' | 'commands'> {
  if (unit === undefined) return { remedy: `${remedy} (for systemd: ${directive}=${value})` }
  const directory = `/etc/systemd/system/${unit.name}.service.d`
  return {
    remedy,
    commands: [
      `mkdir -p ${directory} && printf '[Service]\\n${directive}=${value}\\n' >${directory}/${file}.conf`,
      `systemctl daemon-reload && systemctl restart ${unit.name}`,
    ],
  }
}

export function judgeNames(names: readonly NameFacts[]): Finding[] {
  const lost = names.filter((each) => each.fault !== undefined)
  if (lost.length === 0) return [ok(names.map(({ name }) => name).join(', '))]
  return lost.map(({ name, variable, fault: why }) =>
    warning(`this machine does not find ${name} (${why})`, {
      why: 'hosts that find it no better do not reach the hub',
      remedy: `give ${name} an address in DNS, or correct ${variable}`,
      commands: [`getent ahosts ${name}`],
    }),
  )
}

export function judgePorts(
  ports: readonly PortFacts[],
  isHubThere: boolean,
  unit: UnitFacts | undefined,
): Finding[] {
  const found = ports.flatMap(({ variable, address, port, isListening }) => {
    if (isListening === isHubThere) return []
    if (isListening) {
      return [
        fault(`another program has ${address} (${variable})`, {
          why: 'the hub does not start while it has it',
          remedy: 'end that program, or give the hub another address',
          commands: [`ss -ltnp 'sport = :${port}'`],
        }),
      ]
    }
    return [
      warning(`the hub runs and does not listen on ${address} (${variable})`, {
        why: 'who is to reach it there does not',
        remedy:
          'the settings were changed since it started, or another program had the address: start the hub again',
        commands: [
          `ss -ltnp 'sport = :${port}'`,
          `systemctl restart ${unit?.name ?? 'svc-server'}`,
        ],
      }),
    ]
  })
  if (found.length > 0) return found
  if (ports.length === 0) return [ok('no port of these settings has a number')]
  return [
    ok(isHubThere ? `the hub listens on all ${ports.length}` : `all ${ports.length} are free`),
  ]
}
