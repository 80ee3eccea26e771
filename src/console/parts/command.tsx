// A command of `svc`, ready to paste.

import type { JSX } from 'preact'
import { words } from '../words/words.ts'
import { CopyButton } from './copy-button.tsx'

export function Command({ text }: { readonly text: string }): JSX.Element {
  const said = words().sayCommand(text)
  return (
    <span class="command">
      <code>{said}</code>
      <CopyButton text={said} />
    </span>
  )
}
