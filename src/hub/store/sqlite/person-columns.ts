import type { Person } from '../../domain/access-token.ts'

/** Whom a row is of; both are null where it is of no person. */
export interface PersonColumns {
  readonly emissor: string | null
  readonly sujeito: string | null
}

export function toPerson({ emissor, sujeito }: PersonColumns): Person | null {
  return emissor === null || sujeito === null ? null : { issuer: emissor, subject: sujeito }
}

export function fromPerson(person: Person | null): PersonColumns {
  return { emissor: person?.issuer ?? null, sujeito: person?.subject ?? null }
}
