// The copy button of a console copies the commands: no prompts, and no answers.  Of Python it copies what was typed.
function typed(text) {
  const lines = text.split("\n");
  const prompts = lines.some((line) => line.startsWith(">>> ")) ? [">>> ", "... "] : ["$ "];
  const found = [];
  let continues = false;
  for (const line of lines) {
    const prompt = prompts.find((each) => line.startsWith(each) && (each !== "... " || found.length));
    if (prompt !== undefined) found.push(line.slice(prompt.length));
    else if (continues) found.push(line);
    continues = (prompt !== undefined || continues) && line.endsWith("\\");
  }
  return found.length ? found.join("\n") : text;
}

document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest("[data-clipboard-target]");
    if (!button) return;
    const code = document.querySelector(button.dataset.clipboardTarget);
    if (code) button.setAttribute("data-clipboard-text", typed(code.innerText));
  },
  true,
);
