// A hostname in a list: where there is little room it breaks at its dots, and the whole of it is never far.

import type { JSX } from 'preact'
import { isNarrow } from './is-narrow.ts'

export function Hostname({ name }: { readonly name: string }): JSX.Element {
  return <b title={name}>{isNarrow() ? breakAtDots(name) : name}</b>
}

function breakAtDots(name: string): (string | JSX.Element)[] {
  return name
    .split(/(?<=\.)/)
    .flatMap((label, at) => (at === 0 ? [label] : [<wbr key={at} />, label]))
}
