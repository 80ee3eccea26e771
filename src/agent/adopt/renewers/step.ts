// step: `step ca renew` in a unit of systemd, by itself for ever (`--daemon`) or from a timer, or in a table of cron.

import { basename, join } from 'node:path'
import type { ConfigReader } from '../config-reader.ts'
import { type FindRenewer, type Renewer, type StopAction, STOPPED_LINE } from './renewer.ts'

export interface UnitStates {
  isEnabled(unit: string): Promise<boolean>
  isActive(unit: string): Promise<boolean>
}

const UNIT_DIRECTORIES = ['/etc/systemd/system', '/usr/local/lib/systemd/system']
const CRON_TABLES = ['/etc/crontab', '/etc/cron.d/*', '/var/spool/cron/crontabs/root']
const RENEWS = /\bstep(?:-cli)?\s+ca\s+renew\b/g

/** `stopped`: by other adoptions. Those have no links in `….wants` any more, and are neither enabled nor active. */
export function findStep(
  states: UnitStates,
  stopped: readonly StopAction[] = [],
  places: { readonly units: readonly string[]; readonly cron: readonly string[] } = {
    units: UNIT_DIRECTORIES,
    cron: CRON_TABLES,
  },
): FindRenewer {
  return async (reader, { path, realPath }) => {
    const paths = [...new Set([path, realPath])]
    const stoppedUnits = stopped.flatMap((stop) => (stop.kind === 'unit' ? [stop.unit] : []))
    const units = places.units.flatMap((directory) =>
      unitsIn(reader, directory, paths, stoppedUnits),
    )
    const named: Renewer[] = []
    for (const { unit, text } of units) {
      const [isEnabled, isActive] = [await states.isEnabled(unit), await states.isActive(unit)]
      const own = { kind: 'unit', unit, is_enabled: isEnabled, is_active: isActive } as const
      const earlier = stopped.find((stop) => stop.kind === 'unit' && stop.unit === unit)
      const stop = renewsSeveral(text) ? undefined : (earlier ?? own)
      named.push({ kind: 'step', name: unit, stop, notes: execReloadsOf(text) })
    }
    return [...named, ...places.cron.flatMap((table) => linesIn(reader, table, paths))]
  }
}

/** A service that is started by a timer is stopped by stopping that. */
function unitsIn(
  reader: ConfigReader,
  directory: string,
  paths: readonly string[],
  stoppedUnits: readonly string[],
) {
  const names = reader.list(directory) ?? []
  return names
    .filter((name) => name.endsWith('.service'))
    .flatMap((name) => {
      const text = reader.read(join(directory, name)) ?? ''
      if (countRenewals(text) === 0) return []
      const instances = name.endsWith('@.service')
        ? instancesOf(reader, directory, name, stoppedUnits)
        : [name]
      return instances
        .filter((instance) => namesOne(reader, expand(text, instance), paths))
        .map((service) => ({ unit: timerOf(names, service), text }))
    })
}

/** Those that are enabled (links in `….wants`, to the service or to its timer), or were until an adoption. */
function instancesOf(
  reader: ConfigReader,
  directory: string,
  template: string,
  stoppedUnits: readonly string[],
): string[] {
  const stem = template.replace(/@\.service$/, '')
  const links = reader.expand(join(directory, `*.wants/${stem}@*`)).map((path) => basename(path))
  const known = [...links, ...stoppedUnits.filter((unit) => unit.startsWith(`${stem}@`))]
  return [...new Set(known.map((name) => name.replace(/\.timer$/, '.service')))]
}

function timerOf(names: readonly string[], service: string): string {
  const timer = service.replace(/\.service$/, '.timer')
  const template = timer.replace(/@.*\.timer$/, '@.timer')
  return names.includes(timer) || names.includes(template) ? timer : service
}

/** What a unit says of itself: its instance, and the variables that it sets. */
function expand(text: string, unit: string): string {
  const instance = /@(.*)\.service$/.exec(unit)?.[1] ?? ''
  const plain = text.replaceAll(/\\\n/g, ' ').replaceAll(/%[iI]/g, instance)
  const variables = new Map<string, string>()
  for (const [, line = ''] of plain.matchAll(/^Environment=(.*)$/gm)) {
    for (const [, name = '', value = ''] of line.matchAll(/"?([A-Za-z_]\w*)=([^\s"]*)"?/g)) {
      variables.set(name, value)
    }
  }
  return plain.replaceAll(
    /\$\{?([A-Za-z_]\w*)\}?/g,
    (whole, name: string) => variables.get(name) ?? whole,
  )
}

function execReloadsOf(text: string): string[] {
  return [...text.matchAll(/^ExecStartPost=(.+)$/gm)].map(
    ([, command = '']) => `step ran after a renewal: ${command.trim()}`,
  )
}

function linesIn(reader: ConfigReader, table: string, paths: readonly string[]): Renewer[] {
  return reader.expand(table).flatMap((path) => {
    const text = reader.read(path) ?? ''
    // Bytes that are no UTF-8 would not be written again as they were.
    const isText = !text.includes('\uFFFD')
    return text
      .split('\n')
      .map((line) => (line.startsWith(STOPPED_LINE) ? line.slice(STOPPED_LINE.length) : line))
      .filter(
        (line) => !/^\s*#/.test(line) && countRenewals(line) > 0 && namesOne(reader, line, paths),
      )
      .map((line): Renewer => ({
        kind: 'cron',
        name: path,
        stop: renewsSeveral(line) || !isText ? undefined : { kind: 'line', path, line },
        notes: [],
      }))
  })
}

/** What renews other certificates too is not stopped for this one. */
function renewsSeveral(text: string): boolean {
  return countRenewals(text) > 1
}

function countRenewals(text: string): number {
  return text.replaceAll(/\\\n/g, ' ').match(RENEWS)?.length ?? 0
}

/** Its settings may lead there by other directories. */
function namesOne(reader: ConfigReader, text: string, paths: readonly string[]): boolean {
  const words = text.split(/[\s"'=;]+/).filter((word) => word.startsWith('/'))
  return words.some((word) => paths.includes(word) || paths.includes(reader.place(word)))
}
