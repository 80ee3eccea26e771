// A command of `svc`, ready to paste.

import type { JSX } from 'preact'
import { CopyButton } from './copy-button.tsx'

export function Command({ text }: { readonly text: string }): JSX.Element {
  return (
    <span class="command">
      <code>{text}</code>
      <CopyButton text={text} />
    </span>
  )
}
