// Whether the CA is there, has the hub's provisioner, and has it with the hub's key; and what time it has there. It is asked for its
// public list of provisioners alone: no token is made, nothing is signed. docs/protocol.md DOC-12.

import { printableExtract } from '../../platform/printable.ts'
import type { AuthorityFacts } from '../../protocol/admin/examination.ts'
import type { ProvisionerKey } from '../ca/provisioner-key.ts'
import {
  askAuthority,
  type AuthorityAnswer,
  type AuthorityFault,
  type AuthorityPlace,
  faultOfFailure,
  findSecondsAhead,
} from './ask-authority.ts'

export interface AuthorityQuestion extends AuthorityPlace {
  readonly kid: string
  /** Undefined where nobody said it. */
  readonly name: string | undefined
  /** The public part of the hub's key; undefined for who may not read it. */
  readonly key: Pick<ProvisionerKey, 'x' | 'y'> | undefined
}

interface Provisioner {
  readonly type: unknown
  readonly name: unknown
  readonly kid: unknown
  readonly x: unknown
  readonly y: unknown
}

const PAGES_MAX = 50
const SHOWN_MAX = 5
const CHARACTERS_MAX = 64

export async function probeAuthority(question: AuthorityQuestion): Promise<AuthorityFacts> {
  const { caUrl, now } = question
  const found: Provisioner[] = []
  let aheadSeconds: number | null = null
  const end = (fault: AuthorityFault): AuthorityFacts => ({
    url: caUrl.origin,
    ...fault,
    clock_ahead_seconds: aheadSeconds,
  })
  let cursor = ''
  try {
    for (let pages = 0; pages < PAGES_MAX; pages += 1) {
      const query = new URLSearchParams({ limit: '100', ...(cursor === '' ? {} : { cursor }) })
      const answer = await askAuthority(question, `/provisioners?${query.toString()}`)
      aheadSeconds ??= findSecondsAhead(answer.date, now())
      const page = parsePage(answer)
      if (page === undefined) {
        const reason = `it answered ${answer.status}, and no list of provisioners`
        return end({ fault: 'not_a_ca', reason })
      }
      found.push(...page.provisioners)
      const hasIt = found.some(({ kid }) => kid === question.kid)
      if (hasIt || page.next === '' || page.next === cursor) break
      cursor = page.next
    }
  } catch (error) {
    return end(faultOfFailure(error))
  }
  return end(judgeProvisioners(found, question))
}

/** Public for its test: what a CA says, against what the hub is told of it. */
export function judgeProvisioners(
  found: readonly Provisioner[],
  { kid, name, key }: Pick<AuthorityQuestion, 'kid' | 'name' | 'key'>,
): AuthorityFault {
  const ours = found.find((each) => each.kid === kid)
  if (ours === undefined) {
    const kids = found
      .flatMap((each) => (typeof each.kid === 'string' ? [each.kid] : []))
      .slice(0, SHOWN_MAX)
      .map((each) => printableExtract(each, CHARACTERS_MAX))
    const has = kids.length === 0 ? 'it has none at all' : `it has ${kids.join(', ')}`
    return {
      fault: 'no_provisioner',
      reason: `the CA has no provisioner with the key id ${kid}; ${has}`,
    }
  }
  if (ours.type !== 'JWK') {
    const reason = `the provisioner ${kid} is of the type ${printableExtract(String(ours.type), 16)}`
    return { fault: 'other_kind', reason }
  }
  if (key !== undefined && (ours.x !== key.x || ours.y !== key.y)) {
    return { fault: 'other_key', reason: `the provisioner ${kid} has another key than the hub` }
  }
  if (name !== undefined && ours.name !== name) {
    const called = printableExtract(String(ours.name), CHARACTERS_MAX)
    return {
      fault: 'other_name',
      reason: `the provisioner ${kid} is called ${called}, not ${name}`,
    }
  }
  const what = key === undefined ? '' : ', and the hub has its key'
  return { fault: null, reason: `it has the provisioner ${kid}${what}` }
}

function parsePage({
  status,
  body,
}: AuthorityAnswer): { readonly provisioners: Provisioner[]; readonly next: string } | undefined {
  if (status !== 200) return undefined
  try {
    const { provisioners, nextCursor } = JSON.parse(body) as {
      provisioners?: readonly {
        type?: unknown
        name?: unknown
        key?: { kid?: unknown; x?: unknown; y?: unknown }
      }[]
      nextCursor?: unknown
    }
    const list = (provisioners ?? []).map(({ type, name, key }) => ({
      type,
      name,
      kid: key?.kid,
      x: key?.x,
      y: key?.y,
    }))
    return { provisioners: list, next: typeof nextCursor === 'string' ? nextCursor : '' }
  } catch {
    // Not JSON, or not of this shape: the caller has one answer for both.
    return undefined
  }
}
