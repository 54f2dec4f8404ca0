import icon from "../icon.svg";

export function Logo() {
  return <img class="logo" src={icon} alt="" width="28" height="28" />;
}
