// What is said where a passkey has to confirm an act.

export const confirm = {
  title: 'Confirm with a passkey',
  hint: 'Your passkey confirms this one act. Until then nothing is done.',
  confirm: 'Confirm',
  waits: 'Waiting for the passkey…',
  notDone: 'Nothing was done',
  notDoneHint: 'It was not confirmed with a passkey.',
  missing: 'You have no passkey yet',
  missingHint: 'Register one, then do this again.',
  toAccess: 'To your passkeys',
  unanswered: 'No passkey answered',
  unansweredHint:
    'It was cancelled, it took too long, or this device has none of yours. Try again.',
  oldBrowser:
    'This browser is too old for passkeys: Chrome 129, Firefox 128 or Safari 18.4 have them.',
}
