// The console: what an on-call engineer opens at night, and what an auditor is shown.

import { effect } from '@preact/signals'
import { render } from 'preact'
import type { JSX } from 'preact'
import { holder, isIn, session } from './api/session.ts'
import { resume, resumeAsOtherTabs } from './api/sign-in.ts'
import { followChanges } from './api/stream.ts'
import { AppFrame } from './frame/app-frame.tsx'
import { listenToKeys } from './frame/keys.ts'
import { language, showPreferences } from './frame/preferences.ts'
import { LeaveDialog } from './frame/leave-dialog.tsx'
import { followLinks } from './frame/router.ts'
import { askBeforeUnload } from './frame/unsent.ts'
import { Failure } from './parts/answer.tsx'
import { ConfirmDialog } from './parts/confirm-dialog.tsx'
import { CurrentScreen } from './screens/routes.tsx'
import { followLinkCodes, leaveSignIn } from './screens/sign-in/link-code.ts'
import { dropProviderAnswer, takeProviderAnswer } from './screens/sign-in/provider-answer.ts'
import { SignInAgain, SignInScreen, UseLink } from './screens/sign-in/sign-in-screen.tsx'
import { reloadOnBuild } from './watch.ts'
import { loadWords } from './words/words.ts'

/** Put in place by the build. */
declare const CONSOLE_WATCH: boolean

function Console(): JSX.Element {
  const { value } = session
  const isOver = value.state === 'out' && value.reason === 'ended' && value.wasIn
  if (value.state !== 'in' && !isOver) return <SignInScreen />
  return (
    <>
      <AppFrame key={holder.value?.screens}>
        <CurrentScreen />
      </AppFrame>
      <ConfirmDialog />
      <LeaveDialog />
      {isOver ? <SignInAgain /> : <UseLink />}
    </>
  )
}

if (CONSOLE_WATCH) reloadOnBuild()
showPreferences()
followLinks()
askBeforeUnload()
takeProviderAnswer()
followLinkCodes()
listenToKeys()
followChanges()
resumeAsOtherTabs()
await loadWords(language.value)
effect(() => {
  void loadWords(language.value)
})
try {
  await resume()
  if (isIn()) dropProviderAnswer()
  // Behind the question whether to use a link is the screen of who is in.
  if (isIn()) leaveSignIn()
  render(<Console />, document.body)
} catch (error) {
  render(<Failure error={error as Error} />, document.body)
}
