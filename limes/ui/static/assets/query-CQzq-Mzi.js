import{k as n}from"./index-CQ5u02vE.js";function i(o,e){const{query:r,path:t,route:s}=n(),u=a=>{const c=new URLSearchParams({...r,[o]:a});s(`${t}?${c}`,!0)};return[r[o]??e,u]}export{i as u};
