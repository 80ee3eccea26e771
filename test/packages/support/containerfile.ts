// What is wrong with a Containerfile, as far as its text shows it.

import { SvcError } from '../../../src/platform/errors.ts'

interface Instruction {
  readonly name: string
  readonly value: string
}

interface Stage {
  readonly name: string
  readonly base: string
  readonly instructions: readonly Instruction[]
}

const KNOWN = new Set(
  'FROM RUN CMD EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG HEALTHCHECK'.split(' '),
)
const SECRET_NAME = /(PASSPHRASE|PASSWORD|KEY|TOKEN|SECRET)$/
const URL_SOURCE = /(^|\s)(https?:\/\/|git@)/

/** One line a fault. `images` are the stages that are handed out, the others only lead to them. */
export function findContainerfileFaults(text: string, images: readonly string[]): string[] {
  const stages = parseStages(text)
  const faults = stages.flatMap((stage) => findStageFaults(stage, stages))
  for (const image of images) {
    const stage = stages.find(({ name }) => name === image)
    if (stage === undefined) faults.push(`there is no stage ${image}`)
    else if (runsAsRoot(stage)) faults.push(`${image}: runs as root`)
  }
  return faults
}

export function hasHealthCheck(text: string, image: string): boolean {
  const stage = parseStages(text).find(({ name }) => name === image)
  return stage?.instructions.some(({ name }) => name === 'HEALTHCHECK') ?? false
}

function findStageFaults({ name, base, instructions }: Stage, stages: readonly Stage[]): string[] {
  const isPinned = /^[^:@]+:[^:@]+$/.test(base) && !base.endsWith(':latest')
  const isOurs = stages.some((stage) => stage.name === base)
  const faults = isPinned || isOurs ? [] : [`${name}: ${base} is not pinned by a tag`]
  for (const { name: instruction, value } of instructions) {
    if (instruction === 'ADD' && URL_SOURCE.test(value)) faults.push(`${name}: adds from a URL`)
    if (instruction !== 'ENV' && instruction !== 'ARG') continue
    for (const [, variable = ''] of value.matchAll(/([A-Za-z_][A-Za-z0-9_]*)(?==|\s|$)/g)) {
      if (SECRET_NAME.test(variable)) faults.push(`${name}: ${variable} would be kept in a layer`)
    }
  }
  return faults
}

/** A stage begins as the user that the one below it ended as; one that says nothing is root's. */
function runsAsRoot({ instructions }: Stage): boolean {
  const user = instructions.findLast(({ name }) => name === 'USER')?.value ?? 'root'
  return ['root', '0'].includes(user.split(':')[0] ?? '')
}

function parseStages(text: string): Stage[] {
  const stages: { name: string; base: string; instructions: Instruction[] }[] = []
  for (const line of text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')) {
    if (line.trim() === '') continue
    const [, name = '', value = ''] = /^([A-Z]+)\s+(.+)$/.exec(line.trim()) ?? []
    if (!KNOWN.has(name)) throw new SvcError('instruction_unknown', `not an instruction: ${line}`)
    if (name === 'FROM') {
      const [base = '', , stageName = base] = value.split(/\s+/)
      stages.push({ name: stageName, base, instructions: [] })
      continue
    }
    const stage = stages.at(-1)
    if (stage === undefined) throw new SvcError('from_missing', `${name} before the first FROM`)
    stage.instructions.push({ name, value: value.trim() })
  }
  return stages
}
