// What a field of a politica says, in words; the wire's values stay as they are.

import type { JSX } from 'preact'
import { words } from '../../words/words.ts'
import type { PolicyField } from './describe-policy.ts'

export function FieldValue({
  field,
  value,
}: {
  readonly field: PolicyField
  readonly value: string
}): JSX.Element {
  return <>{describeField(field, value)}</>
}

export function describeField(field: PolicyField, value: string): string {
  const { policies: text } = words()
  if (field === 'reenroll') return text.reenroll[value as keyof typeof text.reenroll]
  if (field === 'sans_permitidos' && value === '') return text.noNames
  if (field === 'sans_permitidos' && value === '*') return text.anyName
  return value === '' ? text.unset[field] : value.replaceAll('\n', ', ')
}
