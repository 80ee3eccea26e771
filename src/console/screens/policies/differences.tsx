// Before and after, a field a line.

import type { JSX } from 'preact'
import { words } from '../../words/words.ts'
import type { Difference } from './describe-policy.ts'
import { describeField } from './field-value.tsx'

export function Differences({
  differences,
}: {
  readonly differences: readonly Difference[]
}): JSX.Element | null {
  const { policies: text } = words()
  if (differences.length === 0) return null
  return (
    <table class="conflict" aria-label={text.differences}>
      <thead>
        <tr>
          <th scope="col">{text.setting}</th>
          <th scope="col">{text.before}</th>
          <th scope="col">{text.after}</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ field, before, after }) => (
          <tr key={field}>
            <th scope="row">{text.fields[field]}</th>
            <td>{describeField(field, before)}</td>
            <td>
              <mark class="wanted">{describeField(field, after)}</mark>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
