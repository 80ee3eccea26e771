// From what was found to what is proposed. Changes nothing; asks each service which certificate it serves now.

import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describeError, invariant } from '../../platform/errors.ts'
import { findPathHands } from '../../platform/path-hands.ts'
import { type Certificate, subjectAltNamesOf } from '../../pki/certificates.ts'
import { type ArtefactName, parseArtefactName } from '../../protocol/identifiers.ts'
import { readTrustedDirectories } from '../files/trusted-path.ts'
import { checkDirectory, checkPlace } from '../targets/check-places.ts'
import { parseTarget } from '../targets/parse-targets.ts'
import { probeServed } from '../targets/probe.ts'
import { accountName } from '../targets/target-account.ts'
import type { Applier } from '../targets/target-applier.ts'
import type { TargetProbe } from '../targets/target.ts'
import { nameToAskFor, type ServiceKind } from './certificate-use.ts'
import type { ConfigReader } from './config-reader.ts'
import type { FoundUses, ServiceUse } from './find-uses.ts'
import { type GroupedFile, groupUses, type UseGroup } from './group-uses.ts'
import type { Proposal, ProposalState, ProposedFile } from './proposal.ts'
import { faultOfRole } from './role-faults.ts'
import { type FindRenewer, type Renewer, stopKeyOf } from './renewers/renewer.ts'
import { formatTargetText, joinReloads } from './target-text.ts'

export interface ProposalContext {
  readonly targetsDir: string
  readonly applier: Applier
  /** For what renewers leave in files. */
  readonly reader: ConfigReader
  readonly renewers: readonly FindRenewer[]
  /** Of the targets that the host has: their names, and the paths that they write. */
  readonly takenFiles: ReadonlySet<string>
  readonly takenPaths: ReadonlySet<string>
  /** What was adopted before, by path. */
  readonly adopted: ReadonlyMap<string, { readonly id: string; readonly isDone: boolean }>
}

const PROBE_MS = 3000
const PROBES_MAX = 8
/** One that does not answer takes its time. */
const TOGETHER = 16
const PLACEHOLDER = /\/ssl-cert-snakeoil\.(pem|key)$/

/** `only` this one, by its id; the others are not asked. */
export async function propose(
  context: ProposalContext,
  { uses }: Pick<FoundUses, 'uses'>,
  only?: string,
): Promise<Proposal[]> {
  const ids = new Set<string>()
  const names = new Map<string, string>()
  const named = groupUses(uses).map((group): NamedGroup => {
    const leaf = leafOf(group.files)
    const name = nameFor(leaf, group.uses, names)
    const services = [...new Set(group.uses.map(({ kind }) => kind))].sort()
    const known = group.files
      .map(({ present }) => context.adopted.get(present.path))
      .find((one) => one !== undefined)
    const id = known?.id ?? freeId(context, `${name}-${services.join('-')}`, ids)
    return { ...group, leaf, name, services, known, id }
  })
  const wanted = named.filter(({ id }) => only === undefined || id === only)
  const proposals: Proposal[] = []
  for (let start = 0; start < wanted.length; start += TOGETHER) {
    const some = wanted.slice(start, start + TOGETHER)
    proposals.push(...(await Promise.all(some.map((group) => proposeOrSay(context, group)))))
  }
  return proposals.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

interface NamedGroup extends UseGroup {
  readonly id: string
  readonly name: ArtefactName
  readonly services: readonly ServiceKind[]
  readonly leaf: Certificate | undefined
  /** What is recorded of its files. */
  readonly known: { readonly id: string; readonly isDone: boolean } | undefined
}

/** What nobody expected of one certificate holds up no other. */
async function proposeOrSay(context: ProposalContext, group: NamedGroup): Promise<Proposal> {
  try {
    return await proposeOne(context, group)
  } catch (error) {
    const { id, name, services, leaf, known } = group
    return {
      id,
      name,
      services,
      state: stateOf(context, [], known),
      targetPath: join(context.targetsDir, `${id}.toml`),
      targetText: '',
      files: [],
      leaf,
      reload: [],
      probes: [],
      renewers: [],
      problems: [`it cannot be looked at: ${describeError(error)}`],
      notes: [],
    }
  }
}

async function proposeOne(
  context: ProposalContext,
  { uses, files: grouped, problems: found, id, name, services, leaf, known }: NamedGroup,
): Promise<Proposal> {
  const problems = [...found]
  for (const file of grouped) {
    const fault = faultOfRole(file, leaf)
    if (fault !== undefined) problems.push(fault)
  }
  const notes: string[] = []
  const files = await Promise.all(grouped.map((file) => proposeFile(file, notes)))
  const keyKind = leaf?.x509.publicKey.asymmetricKeyType
  if (keyKind === 'rsa') notes.push('its key is RSA now, and becomes an EC key (P-256)')
  const state = stateOf(context, files, known)
  const reloads = uses.map(({ reload }) => reload)
  if (reloads.includes(undefined)) problems.push('nothing is known that reloads it for good')
  const reload = joinReloads(reloads.filter((argv) => argv !== undefined))
  const asked = probesOf(uses, leaf)
  if (asked.length === 0)
    problems.push('it listens nowhere that could be asked for its certificate')
  const answers = leaf === undefined ? [] : await askAll(asked, leaf)
  const served = answers.filter(({ reason }) => reason === undefined)
  const refused = answers.find(({ reason }) => reason !== undefined)
  if (state === 'open' && served.length === 0 && refused?.reason !== undefined) {
    problems.push(`it does not serve this certificate now: ${refused.reason}`)
  }
  const probes = (served.length > 0 ? served : answers).map(({ probe }) => probe)
  const targetPath = join(context.targetsDir, `${id}.toml`)
  const targetText = formatTargetText({ name, reload, probe: probes[0], files })
  if (problems.length === 0) {
    problems.push(...(await faultsOf(context, { targetPath, targetText, files })))
  }
  if (problems.length === 0) {
    problems.push(...grouped.flatMap((file) => faultOfLink(context, file) ?? []))
  }
  if (grouped.some(({ present }) => PLACEHOLDER.test(present.realPath))) {
    problems.push('it is the placeholder of the system: give the service files of its own first')
  }
  const renewers = await findRenewers(context, grouped)
  problems.push(...(await faultsOfRenewers(renewers)))
  notes.push(...renewers.flatMap((renewer) => renewer.notes))
  return {
    id,
    name,
    services,
    state,
    targetPath,
    targetText,
    files,
    leaf,
    reload,
    probes,
    renewers,
    // What is known of these files already says what becomes of them.
    problems: state === 'open' ? [...new Set(problems)] : [],
    notes: state === 'open' ? [...new Set(notes)] : [],
  }
}

/** What a link leads to is copied into its place, as root: it has to be root's choice what that is. */
function faultOfLink({ applier }: ProposalContext, { present }: GroupedFile): string | undefined {
  const { path, link, realPath } = present
  if (link === undefined) return undefined
  const strangers = [...findPathHands(path).hands].filter((hand) => hand !== applier.uid)
  if (strangers.length === 0) return undefined
  return `${path} is a link to what others than root can change: ${realPath}`
}

function stateOf(
  { takenPaths }: ProposalContext,
  files: readonly ProposedFile[],
  known: { readonly isDone: boolean } | undefined,
): ProposalState {
  if (known !== undefined) return known.isDone ? 'adopted' : 'unfinished'
  return files.some(({ path }) => takenPaths.has(path)) ? 'target' : 'open'
}

/** The end-entity's certificate is the first of the file that a client is shown. */
function leafOf(files: readonly GroupedFile[]): Certificate | undefined {
  return files.find(({ content }) => content.includes('cert'))?.present.certificates[0]
}

async function proposeFile(
  { present, content }: GroupedFile,
  notes: string[],
): Promise<ProposedFile> {
  const { path, sha256, link, uid, gid } = present
  const isOpen = content.includes('key') && (present.mode & 0o007) !== 0
  if (isOpen) notes.push(`${path} holds a key that everybody can read: it gets another mode`)
  const mode = (isOpen ? present.mode & ~0o007 : present.mode) & 0o775
  const owner = await accountName('passwd', uid)
  return { path, sha256, link, content, owner, group: await accountName('group', gid), mode }
}

/** The same for all that show the same names: one load may have several targets. */
function nameFor(
  leaf: Certificate | undefined,
  uses: readonly ServiceUse[],
  taken: Map<string, string>,
): ArtefactName {
  const all = leaf === undefined ? [] : subjectAltNamesOf(leaf)
  const key = all.toSorted().join(' ')
  const [first = leaf?.commonName ?? basename(uses[0]?.certificatePath ?? '')] = all
  const plain = first
    .toLowerCase()
    .replace(/^\*\./, 'wildcard.')
    .replaceAll(/[^a-z0-9._-]/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 60)
  const stem = parseArtefactName(plain) === undefined ? 'site' : plain
  for (let number = 1; ; number += 1) {
    const text = number === 1 ? stem : `${stem}-${number}`
    const name = parseArtefactName(text)
    invariant(name !== undefined, 'a number at its end leaves a name a name')
    if ((taken.get(text) ?? key) !== key) continue
    taken.set(text, key)
    return name
  }
}

/** Of a target's file that neither the host nor another proposal has. */
function freeId({ takenFiles, adopted }: ProposalContext, stem: string, ids: Set<string>): string {
  const before = new Set([...adopted.values()].map(({ id }) => id))
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? stem : `${stem}-${number}`
    if (takenFiles.has(`${id}.toml`) || ids.has(id) || before.has(id)) continue
    ids.add(id)
    return id
  }
}

function probesOf(uses: readonly ServiceUse[], leaf: Certificate | undefined): TargetProbe[] {
  const ownName = leaf === undefined ? undefined : nameToAskFor(subjectAltNamesOf(leaf))
  const probes = uses.flatMap(({ kind, listeners, serverName }) =>
    listeners.map(({ host, port }): TargetProbe => {
      const isPostgres = kind === 'postgresql'
      const asked = isPostgres ? undefined : (serverName ?? ownName)
      return { host, port, protocol: isPostgres ? 'postgres' : 'tls', serverName: asked }
    }),
  )
  const distinct = new Map(probes.map((probe) => [JSON.stringify(probe), probe]))
  return [...distinct.values()].slice(0, PROBES_MAX)
}

/** Anyone can give a certificate any serial number. */
function askAll(probes: readonly TargetProbe[], { sha256 }: Certificate) {
  return Promise.all(
    probes.map(async (probe) => {
      const answer = await probeServed(probe, { deadlineMs: PROBE_MS })
      if (!answer.ok) return { probe, reason: answer.reason }
      const isIt = answer.sha256 === sha256
      return { probe, reason: isIt ? undefined : `it serves another, of serial ${answer.serial}` }
    }),
  )
}

/** Whatever `targets check` would say of the target, but that a link stands in its place: that is taken away first. */
async function faultsOf(
  { applier }: ProposalContext,
  proposed: {
    readonly targetPath: string
    readonly targetText: string
    readonly files: readonly ProposedFile[]
  },
): Promise<string[]> {
  const { targetPath, targetText, files } = proposed
  const parsed = parseTarget(targetPath, targetText)
  if (!parsed.ok) return parsed.problems.map(({ reason }) => reason)
  const links = new Set(files.flatMap(({ path, link }) => (link === undefined ? [] : [path])))
  const faults = await Promise.all(
    parsed.target.files.map((file) =>
      links.has(file.path) ? checkDirectory(file, applier) : checkPlace(file, applier),
    ),
  )
  return faults.filter((fault) => fault !== undefined)
}

async function findRenewers(
  { reader, renewers }: ProposalContext,
  files: readonly GroupedFile[],
): Promise<Renewer[]> {
  const found = new Map<string, Renewer>()
  for (const { present } of files) {
    for (const find of renewers) {
      for (const one of await find(reader, present)) {
        found.set(JSON.stringify([one.kind, one.name, one.stop && stopKeyOf(one.stop)]), one)
      }
    }
  }
  return [...found.values()]
}

async function faultsOfRenewers(renewers: readonly Renewer[]): Promise<string[]> {
  const faults: string[] = []
  for (const { kind, name, stop } of renewers) {
    if (stop === undefined) faults.push(`${kind} (${name}) cannot be stopped from here`)
    else if (stop.kind !== 'unit') {
      const path = stop.kind === 'rename' ? stop.from : stop.path
      const trusted = await readTrustedDirectories(dirname(path), 0)
      const isTwice = stop.kind === 'rename' && [stop.from, stop.to].every((one) => existsSync(one))
      if (isTwice)
        faults.push(`${kind} (${name}) is there twice: remove ${stop.from} or ${stop.to}`)
      if (!trusted.ok) faults.push(`${kind} (${name}) is not root's alone: ${trusted.reason}`)
    }
  }
  return faults
}
