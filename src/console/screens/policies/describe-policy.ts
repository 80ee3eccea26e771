// A politica as a form, and back: what differs from what was seen, and the request that sets just that.

import type { AdminReplies, AdminRequest } from '../../api/operations.ts'
import { durationText, parseDurationText } from '../../parts/duration-text.ts'
import { mergeField } from '../../parts/merge-field.ts'

type OfRole = AdminReplies['listPolicies']['politicas'][number]
type OfSelector = AdminReplies['listSelectorPolicies']['politicas'][number]

/** Whom a politica is for: a role, or the hosts that its selector matches. */
export type Target =
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'where'; readonly nome: string }

/** Either kind; a field that one of them lacks is empty. */
export type Politica = Omit<OfRole, 'role' | 'reenroll'> &
  Pick<OfSelector, 'reenroll'> & { readonly where: string }

export interface PolicyForm {
  readonly nome: string
  readonly where: string
  readonly token_ttl_max: string
  readonly cert_ttl: string
  /** One a line. */
  readonly sans_permitidos: string
  readonly cargas_automaticas: string
  readonly reenroll: 'yes' | 'no' | 'unsaid'
}

export type PolicyField = keyof PolicyForm

export interface Difference {
  readonly field: PolicyField
  readonly before: string
  readonly after: string
}

export type PolicyBounds = Omit<AdminRequest<'setSelectorPolicy'>, 'nome' | 'reenroll'> & {
  nome?: string
  reenroll?: boolean | null
}

export interface PolicyDecision {
  /** Fields of which what is typed cannot be. */
  readonly faults: readonly PolicyField[]
  readonly differences: readonly Difference[]
  /** What differs, and nothing else: a setting that nobody touched stays as the hub has it. */
  readonly bounds: PolicyBounds
}

export function toPolitica(shown: OfRole | OfSelector): Politica {
  return { ...shown, where: 'where' in shown ? shown.where : '' }
}

/** Of somebody who makes one: as the hub would make it of nothing. */
export function emptyPolitica(target: Target): Politica {
  return {
    nome: target.kind === 'role' ? target.role : target.nome,
    where: '',
    token_ttl_max: null,
    cert_ttl: null,
    sans_permitidos: ['*'],
    sans_nomeados: false,
    cargas_automaticas: [],
    reenroll: target.kind === 'role' ? false : null,
  }
}

export function fieldsOf({ kind }: Target): readonly PolicyField[] {
  const bounds = [
    'token_ttl_max',
    'cert_ttl',
    'sans_permitidos',
    'cargas_automaticas',
    'reenroll',
  ] as const
  return kind === 'role' ? ['nome', ...bounds] : ['where', ...bounds]
}

export function formOf(politica: Politica): PolicyForm {
  const { nome, where, token_ttl_max, cert_ttl, reenroll } = politica
  return {
    nome,
    where,
    token_ttl_max: token_ttl_max === null ? '' : durationText(token_ttl_max),
    cert_ttl: cert_ttl === null ? '' : durationText(cert_ttl),
    sans_permitidos: politica.sans_permitidos.join('\n'),
    cargas_automaticas: politica.cargas_automaticas.join('\n'),
    reenroll: reenroll === null ? 'unsaid' : reenroll ? 'yes' : 'no',
  }
}

export function decidePolicy(target: Target, seen: Politica, form: PolicyForm): PolicyDecision {
  const known = formOf(seen)
  const faults: PolicyField[] = []
  const differences: Difference[] = []
  const bounds: PolicyBounds = {}
  for (const field of fieldsOf(target)) {
    const before = tidy(field, known[field])
    const after = tidy(field, form[field])
    if (isFaulty(field, after)) faults.push(field)
    if (before === after) continue
    differences.push({ field, before, after })
    Object.assign(bounds, { [field]: valueOf(field, after) })
  }
  return { faults, differences, bounds }
}

export interface MergedPolicy {
  readonly merged: PolicyForm
  /** Settings that both changed. */
  readonly clashes: readonly PolicyField[]
}

/** What was typed, for what is there now: a setting that nobody touched here stays as somebody else has set it. */
export function mergePolicy(
  target: Target,
  seen: Politica,
  present: Politica,
  form: PolicyForm,
): MergedPolicy {
  const before = formOf(seen)
  const now = formOf(present)
  const clashes: PolicyField[] = []
  const wanted = fieldsOf(target).map((field) => {
    const { merged, isClash } = mergeField(
      tidy(field, before[field]),
      tidy(field, now[field]),
      tidy(field, form[field]),
    )
    if (isClash) clashes.push(field)
    return [field, merged]
  })
  return { merged: { ...now, ...(Object.fromEntries(wanted) as Partial<PolicyForm>) }, clashes }
}

function isFaulty(field: PolicyField, text: string): boolean {
  if (field === 'token_ttl_max' || field === 'cert_ttl') {
    return text !== '' && parseDurationText(text) === undefined
  }
  return (field === 'nome' || field === 'where') && text === ''
}

/** What is typed in two ways and means one thing is one text. */
function tidy(field: PolicyField, text: string): string {
  if (field === 'sans_permitidos' || field === 'cargas_automaticas') return linesOf(text).join('\n')
  const seconds = field.includes('ttl') ? parseDurationText(text) : undefined
  return seconds === undefined ? text.trim() : durationText(seconds)
}

function valueOf(field: PolicyField, text: string): unknown {
  if (field === 'token_ttl_max' || field === 'cert_ttl') return parseDurationText(text) ?? null
  if (field === 'sans_permitidos' || field === 'cargas_automaticas') return linesOf(text)
  if (field === 'reenroll') return text === 'unsaid' ? null : text === 'yes'
  return text
}

export function linesOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((line) => line !== '')
}

/** The entry that says who set or removed it last; the newest entry is the last one. */
export function findLastChange<
  Entry extends { readonly payload: Readonly<Record<string, unknown>> },
>(target: Target, entries: readonly Entry[]): Entry | undefined {
  return entries.findLast((entry) => isAbout(target, entry))
}

/** As the entry names them. */
export function actorOf({
  payload: { actor },
}: {
  readonly payload: Readonly<Record<string, unknown>>
}): string {
  return typeof actor === 'string' ? actor : '–'
}

export function isAbout(
  target: Target,
  { payload }: { readonly payload: Readonly<Record<string, unknown>> },
): boolean {
  return target.kind === 'role'
    ? payload['role'] === target.role
    : payload['nome'] === target.nome && payload['where'] !== undefined
}
